//! A plan in f64, slot by slot: rotations, masks and products as a scheme does them, without its noise. What it computes
//! is what the plan means; the errors of an encrypted run against it are noise alone.

use super::backend::{Backend, Map, OpError};
use super::book::{Book, Books};
use super::executor::{Encrypted, ExecError, Step, Value, execute};
use super::layout::{gather, place};
use super::noise::add_noise;
use plan::{Form, Geometry, Level, NodeId, Op, Plan, Secrecy, Shift, Tensor};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use std::collections::BTreeMap;

/// The slots of a ciphertext in clear, with its books.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    /// values in the order of [`plan::layout`]
    pub values: Vec<f64>,
    /// level and scale
    pub book: Book,
}

/// Evaluates in clear.
pub struct Clear<'p> {
    geometry: Geometry,
    books: Books<'p>,
}

impl<'p> Clear<'p> {
    /// The backend of a plan.
    pub fn new(plan: &'p Plan) -> Clear<'p> {
        Clear { geometry: plan.geometry, books: Books { params: &plan.params } }
    }

    fn rotate(&self, values: &[f64], shift: Shift) -> Vec<f64> {
        (0..values.len()).map(|i| values[self.geometry.source(i, shift)]).collect()
    }

    /// `f(lane, row, column)` in every slot.
    fn by_matrix(&self, f: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
        let at = |slot: usize| self.geometry.coordinates(slot);
        (0..self.geometry.slots()).map(at).map(|(l, r, c)| f(l, r, c)).collect()
    }

    /// Entry (row, column) of the product of two matrices of a lane.
    fn dot(&self, a: &[f64], b: &[f64], lane: usize, row: usize, col: usize) -> f64 {
        (0..self.geometry.cols).map(|k| a[self.at(lane, row, k)] * b[self.at(lane, k, col)]).sum()
    }

    fn at(&self, lane: usize, row: usize, col: usize) -> usize {
        (lane * self.geometry.rows + row) * self.geometry.cols + col
    }
}

fn zip(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

impl Backend for Clear<'_> {
    type Ciphertext = Slots;

    fn level(&self, a: &Slots) -> Level {
        a.book.level
    }
    fn scale(&self, a: &Slots) -> f64 {
        a.book.scale
    }
    fn add(&self, a: &Slots, b: &Slots) -> Result<Slots, OpError> {
        let book = self.books.add(&a.book, &b.book)?;
        Ok(Slots { values: zip(&a.values, &b.values, |x, y| x + y), book })
    }
    fn sub(&self, a: &Slots, b: &Slots) -> Result<Slots, OpError> {
        let book = self.books.sub(&a.book, &b.book)?;
        Ok(Slots { values: zip(&a.values, &b.values, |x, y| x - y), book })
    }
    fn neg(&self, a: &Slots) -> Result<Slots, OpError> {
        Ok(Slots { values: a.values.iter().map(|x| -x).collect(), book: a.book })
    }
    fn mul_integer(&self, a: &Slots, k: i64) -> Result<Slots, OpError> {
        Ok(Slots { values: a.values.iter().map(|x| x * k as f64).collect(), book: a.book })
    }
    fn add_clear(&self, a: &Slots, slots: &[f64]) -> Result<Slots, OpError> {
        Ok(Slots { values: zip(&a.values, slots, |x, y| x + y), book: a.book })
    }
    fn mul_clear(&self, a: &Slots, slots: &[f64]) -> Result<Slots, OpError> {
        let book = self.books.mul_clear(&a.book, slots)?;
        Ok(Slots { values: zip(&a.values, slots, |x, y| x * y), book })
    }
    fn mul(&self, a: &Slots, b: &Slots) -> Result<Slots, OpError> {
        let book = self.books.mul(&a.book, &b.book)?;
        Ok(Slots { values: zip(&a.values, &b.values, |x, y| x * y), book })
    }
    fn combine(&self, terms: &[(f64, &Slots)]) -> Result<Slots, OpError> {
        let books: Vec<(f64, &Book)> = terms.iter().map(|(c, a)| (*c, &a.book)).collect();
        let mut values = vec![0.0; self.geometry.slots()];
        for (c, a) in terms {
            values.iter_mut().zip(&a.values).for_each(|(sum, x)| *sum += c * x);
        }
        Ok(Slots { values, book: self.books.combine(&books)? })
    }
    fn adjust(&self, a: &Slots, level: Level) -> Result<Slots, OpError> {
        Ok(Slots { values: a.values.clone(), book: self.books.adjust(&a.book, level)? })
    }
    fn bootstrap(&self, a: &Slots, log_bound: u32, level: Level) -> Result<Slots, OpError> {
        Ok(Slots { values: a.values.clone(), book: self.books.bootstrap(&a.book, log_bound, level)? })
    }
    fn linear(&self, x: &[Slots], map: &Map) -> Result<Vec<Slots>, OpError> {
        let books: Vec<Book> = x.iter().map(|a| a.book).collect();
        let out = self.books.linear(&books, map)?;
        let mut sums = vec![vec![0.0; self.geometry.slots()]; map.transform.outputs];
        for (&(to, from), block) in &map.transform.blocks {
            for (&shift, diagonal) in block {
                let (giant, baby) = self.geometry.split(shift, map.split);
                let turned = self.rotate(&x[from].values, baby);
                let mut masked = vec![0.0; turned.len()];
                if map.masks {
                    for &(slot, factor) in diagonal {
                        let at = self.geometry.source(slot as usize, giant);
                        masked[at] += factor * turned[at];
                    }
                } else {
                    // one factor for all slots, also those outside the tensor, where zeros move
                    masked.iter_mut().zip(&turned).for_each(|(m, t)| *m = diagonal[0].1 * t);
                }
                let moved = self.rotate(&masked, giant);
                sums[to].iter_mut().zip(&moved).for_each(|(sum, x)| *sum += x);
            }
        }
        Ok(sums.into_iter().zip(out).map(|(values, book)| Slots { values, book }).collect())
    }
    fn masked_matmul(&self, a: &Slots, b: &Slots, inner: usize) -> Result<Slots, OpError> {
        let book = self.books.masked_matmul(&a.book, &b.book, inner)?;
        let term = |l, r, c, k| a.values[self.at(l, r, k)] * b.values[self.at(l, k, c)];
        Ok(Slots { values: self.by_matrix(|l, r, c| (0..inner).map(|k| term(l, r, c, k)).sum()), book })
    }
    fn matmul(&self, terms: &[(&Slots, &Slots)]) -> Result<Slots, OpError> {
        let books: Vec<(&Book, &Book)> = terms.iter().map(|(a, b)| (&a.book, &b.book)).collect();
        let n = self.geometry.cols;
        let mut values = vec![0.0; self.geometry.slots()];
        for (a, b) in terms {
            let term = |l, r, c, k| a.values[self.at(l, r, k)] * b.values[self.at(l, c, k)];
            let product = self.by_matrix(|l, r, c| (0..n).map(|k| term(l, r, c, k)).sum());
            values.iter_mut().zip(product).for_each(|(sum, x)| *sum += x);
        }
        Ok(Slots { values, book: self.books.matmul(&books)? })
    }
    fn matmul_clear(&self, terms: &[(&Slots, Vec<f64>)]) -> Result<Slots, OpError> {
        let books: Vec<(&Book, Vec<f64>)> = terms.iter().map(|(a, _)| (&a.book, vec![])).collect();
        let mut values = vec![0.0; self.geometry.slots()];
        for (a, slots) in terms {
            let product = self.by_matrix(|l, r, c| self.dot(&a.values, slots, l, r, c));
            values.iter_mut().zip(product).for_each(|(sum, x)| *sum += x);
        }
        Ok(Slots { values, book: self.books.matmul_clear(&books)? })
    }
    fn flip(&self, a: &Slots) -> Result<Slots, OpError> {
        Ok(Slots { values: self.by_matrix(|l, r, c| a.values[self.at(l, c, r)]), book: a.book })
    }
}

/// Runs a plan in clear on checked inputs. With a seed, every encrypted output has Gaussian noise added, of the deviation
/// the plan predicts for it.
///
/// # Errors
/// As [`execute`].
pub fn simulate(
    plan: &Plan,
    inputs: &[Option<Tensor>],
    noise: Option<[u8; 32]>,
    progress: &mut dyn FnMut(Step),
) -> Result<Vec<Tensor>, ExecError> {
    plan::verify::verify(plan)?;
    let backend = Clear::new(plan);
    let run = execute(plan, &backend, &given(plan, &backend, inputs), progress)?;
    let mut rng = noise.map(ChaCha20Rng::from_seed);
    let open = |(output, value): (&plan::Output, Value<Slots>)| match value {
        Value::Clear(tensor) => tensor.into_owned(),
        Value::Cipher(cts) => {
            let node = plan.node(output.node);
            let slots: Vec<Vec<f64>> = cts.into_iter().map(|ct| ct.values).collect();
            let exact = gather(&slots, &node.layout(), &plan.geometry);
            match (node.form, &mut rng) {
                (Form::Cipher { noise, .. }, Some(rng)) => add_noise(&exact, noise, rng),
                _ => exact,
            }
        }
    };
    Ok(plan.outputs.iter().zip(run.outputs).map(open).collect())
}

/// Inputs as the executor takes them.
fn given(plan: &Plan, backend: &Clear, inputs: &[Option<Tensor>]) -> Encrypted<Slots> {
    let tensor = |i: usize| inputs.get(i).and_then(Option::as_ref);
    let mut encrypted = Encrypted { cipher: BTreeMap::new(), plain: BTreeMap::new() };
    for (i, input) in plan.inputs.iter().enumerate().filter(|(_, i)| i.secrecy == Secrecy::Plain) {
        encrypted.plain.extend(tensor(i).filter(|t| t.shape() == input.shape).map(|t| (i, t.clone())));
    }
    for (n, node) in plan.nodes.iter().enumerate() {
        let (Op::Input(i), Some(level)) = (&node.op, node.level()) else { continue };
        let Some(tensor) = tensor(*i).filter(|t| t.shape() == node.shape) else { continue };
        let book = backend.books.fresh(level);
        let slots = place(tensor, &node.layout(), &plan.geometry);
        let cts = slots.into_iter().map(|values| Slots { values, book }).collect();
        encrypted.cipher.insert(NodeId(n as u32), cts);
    }
    encrypted
}
