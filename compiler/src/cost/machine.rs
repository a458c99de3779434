//! What arithmetic costs on a machine: measured, kept as JSON. A default is part of the compiler, with the machine it is from.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul};
use std::sync::LazyLock;

/// Amounts of arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// transforms of limbs, N log2 N each
    pub transforms: f64,
    /// multiply-adds of coefficients
    pub pointwise: f64,
    /// multiply-adds of modular matrix products
    pub products: f64,
    /// encodings of slots, N log2 N each
    pub encodes: f64,
}

/// Nanoseconds for a unit of every kind of [`Work`], all threads of the machine together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// of a transform
    pub transform: f64,
    /// of a multiply-add of coefficients
    pub pointwise: f64,
    /// of a multiply-add of a matrix product
    pub product: f64,
    /// of an encoding
    pub encode: f64,
}

/// The rates of the schemes, which use threads differently.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeRates {
    /// of CKKS
    pub ckks: Rates,
    /// of the Gentry-Lee scheme
    pub gl: Rates,
}

/// A measured machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// processor and vector extension
    pub name: String,
    /// threads that computed
    pub threads: usize,
    /// what was measured
    pub rates: SchemeRates,
}

/// Why a machine cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// No JSON of a machine.
    #[error("no description of a machine: {0}")]
    Json(#[from] serde_json::Error),
    /// A rate is not a number of nanoseconds.
    #[error("the rate of {what} is {found}, expected a finite number of nanoseconds, 0 or more")]
    Rate {
        /// kind of work
        what: &'static str,
        /// value found
        found: f64,
    },
}

static DEFAULT: LazyLock<Machine> = LazyLock::new(|| {
    Machine::from_json(include_str!("default.json")).expect("the machine of the compiler is well formed")
});

impl Default for SchemeRates {
    fn default() -> SchemeRates {
        DEFAULT.rates
    }
}

impl Machine {
    /// The machine plans are made for unless another one is named.
    pub fn default_machine() -> &'static Machine {
        &DEFAULT
    }

    /// Reads a machine.
    ///
    /// # Errors
    /// When the text is no machine, or a rate is negative or not finite.
    pub fn from_json(text: &str) -> Result<Machine, MachineError> {
        let machine: Machine = serde_json::from_str(text)?;
        for rates in [machine.rates.ckks, machine.rates.gl] {
            for (what, found) in rates.named() {
                if !(found.is_finite() && found >= 0.0) {
                    return Err(MachineError::Rate { what, found });
                }
            }
        }
        Ok(machine)
    }
}

impl Rates {
    /// The rates with their names.
    pub fn named(&self) -> [(&'static str, f64); 4] {
        [
            ("transform", self.transform),
            ("pointwise", self.pointwise),
            ("product", self.product),
            ("encode", self.encode),
        ]
    }
}

impl Work {
    /// The amounts, in the order of [`Rates::named`].
    pub fn amounts(&self) -> [f64; 4] {
        [self.transforms, self.pointwise, self.products, self.encodes]
    }

    /// Nanoseconds at some rates.
    pub fn time(&self, rates: &Rates) -> f64 {
        self.amounts().iter().zip(rates.named()).map(|(amount, (_, rate))| amount * rate).sum()
    }
}

impl Add for Work {
    type Output = Work;
    fn add(self, other: Work) -> Work {
        Work {
            transforms: self.transforms + other.transforms,
            pointwise: self.pointwise + other.pointwise,
            products: self.products + other.products,
            encodes: self.encodes + other.encodes,
        }
    }
}

impl Mul<f64> for Work {
    type Output = Work;
    fn mul(self, times: f64) -> Work {
        Work {
            transforms: self.transforms * times,
            pointwise: self.pointwise * times,
            products: self.products * times,
            encodes: self.encodes * times,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_a_machine_and_damage_is_refused() {
        let text = serde_json::to_string(Machine::default_machine()).unwrap();
        assert_eq!(Machine::from_json(&text).unwrap(), *Machine::default_machine());
        assert!(Machine::default_machine().rates.gl.product > 0.0);
        let mut broken = Machine::default_machine().clone();
        broken.rates.ckks.encode = -1.0;
        let text = serde_json::to_string(&broken).unwrap();
        assert!(matches!(Machine::from_json(&text), Err(MachineError::Rate { what: "encode", .. })));
        assert!(Machine::from_json("{}").is_err());
    }
}
