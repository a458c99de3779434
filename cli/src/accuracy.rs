//! Classification: the largest value of every row of an output, against labels and the clear run.

use plan::Tensor;
use serde_json::{Value, json};
use std::path::Path;

/// How well an output names the classes in `labels.npy`.
pub struct Accuracy {
    /// output that was taken
    pub output: String,
    /// classes by the result
    pub predicted: Vec<usize>,
    /// classes by the clear run
    pub clear: Vec<usize>,
    /// the labels
    pub labels: Vec<usize>,
}

/// Labels beside the program, if there are any.
pub fn labels(folder: &Path) -> Option<Vec<usize>> {
    let labels = runtime::data::read_npy(&folder.join("labels.npy")).ok()?;
    let whole = labels.data().iter().all(|x| x.fract() == 0.0 && (0.0..1e9).contains(x));
    (labels.shape().len() == 1 && whole).then(|| labels.data().iter().map(|&x| x as usize).collect())
}

impl Accuracy {
    /// Takes the first output that has one row per label.
    pub fn of<'a>(
        labels: &[usize],
        outputs: impl Iterator<Item = (&'a str, &'a Tensor, &'a Tensor)>,
    ) -> Option<Accuracy> {
        for (name, result, clear) in outputs {
            if result.shape().len() == 2 && result.shape()[0] == labels.len() {
                let (predicted, clear) = (largest(result), largest(clear));
                return Some(Accuracy { output: name.into(), predicted, clear, labels: labels.to_vec() });
            }
        }
        None
    }

    fn share(&self, hits: impl Fn(usize) -> bool) -> f64 {
        (0..self.labels.len()).filter(|&i| hits(i)).count() as f64 / self.labels.len() as f64
    }

    /// Share of rows the result has right.
    pub fn result(&self) -> f64 {
        self.share(|i| self.predicted[i] == self.labels[i])
    }

    /// Share of rows the clear run has right.
    pub fn clear(&self) -> f64 {
        self.share(|i| self.clear[i] == self.labels[i])
    }

    /// Share of rows where both say the same.
    pub fn agreement(&self) -> f64 {
        self.share(|i| self.predicted[i] == self.clear[i])
    }

    pub fn to_json(&self) -> Value {
        json!({
            "output": self.output, "result": self.result(), "clear": self.clear(), "agreement": self.agreement(),
            "rows": self.labels.len(),
        })
    }
}

/// Column of the largest value of every row; the first of equals.
fn largest(t: &Tensor) -> Vec<usize> {
    let columns = t.shape()[1];
    let row = |r: &[f64]| (0..columns).reduce(|best, i| if r[i] > r[best] { i } else { best }).unwrap_or(0);
    t.data().chunks_exact(columns).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted() {
        let t = |v: &[f64]| Tensor::new(vec![2, 2], v.to_vec()).unwrap();
        let (result, clear) = (t(&[1.0, 2.0, 3.0, 2.0]), t(&[2.0, 1.0, 3.0, 2.0]));
        let a = Accuracy::of(&[1, 1], [("o", &result, &clear)].into_iter()).unwrap();
        assert_eq!((a.result(), a.clear(), a.agreement()), (0.5, 0.0, 0.5));
        assert!(Accuracy::of(&[1], [("o", &result, &clear)].into_iter()).is_none());
    }
}
