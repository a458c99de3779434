//! The levels and scales of a plan, without values: what the arithmetic will do to the books of every ciphertext.

use super::backend::{Backend, Map, OpError};
use plan::bootstrap::SLOTS_TO_COEFFS;
use plan::{Level, Params};

/// Level and scale of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Book {
    /// rescales left
    pub level: Level,
    /// exact scale
    pub scale: f64,
}

/// Keeps the books under the moduli of a plan.
pub struct Books<'p> {
    /// moduli and scales
    pub params: &'p Params,
}

impl Books<'_> {
    /// The book of a fresh encryption at a level.
    pub fn fresh(&self, level: Level) -> Book {
        Book { level, scale: self.params.scale_at(level) }
    }

    /// The product of a value and a factor of a scale, rescaled by one prime.
    fn product(&self, a: &Book, factor: f64) -> Result<Book, OpError> {
        let level = a.level.after_rescales(1).ok_or(OpError::Level { needed: 1, available: 0 })?;
        Ok(Book { level, scale: a.scale * factor / self.params.q[a.level.0 as usize] as f64 })
    }

    fn same(a: &Book, b: &Book) -> Result<(), OpError> {
        let same = a.level == b.level && a.scale.to_bits() == b.scale.to_bits();
        if same { Ok(()) } else { Err(OpError::Operands { left: a.level, right: b.level }) }
    }
}

impl Backend for Books<'_> {
    type Ciphertext = Book;

    fn level(&self, a: &Book) -> Level {
        a.level
    }
    fn scale(&self, a: &Book) -> f64 {
        a.scale
    }
    fn add(&self, a: &Book, b: &Book) -> Result<Book, OpError> {
        Books::same(a, b).map(|()| *a)
    }
    fn sub(&self, a: &Book, b: &Book) -> Result<Book, OpError> {
        Books::same(a, b).map(|()| *a)
    }
    fn neg(&self, a: &Book) -> Result<Book, OpError> {
        Ok(*a)
    }
    fn mul_integer(&self, a: &Book, _: i64) -> Result<Book, OpError> {
        Ok(*a)
    }
    fn add_clear(&self, a: &Book, _: &[f64]) -> Result<Book, OpError> {
        Ok(*a)
    }
    fn mul_clear(&self, a: &Book, _: &[f64]) -> Result<Book, OpError> {
        self.product(a, a.scale)
    }
    fn mul(&self, a: &Book, b: &Book) -> Result<Book, OpError> {
        Books::same(a, b)?;
        self.product(a, b.scale)
    }
    fn combine(&self, terms: &[(f64, &Book)]) -> Result<Book, OpError> {
        terms.iter().try_for_each(|t| Books::same(terms[0].1, t.1))?;
        self.product(terms[0].1, terms[0].1.scale)
    }
    fn adjust(&self, a: &Book, level: Level) -> Result<Book, OpError> {
        if level >= a.level {
            return Err(OpError::Level { needed: level.0 + 1, available: a.level.0 });
        }
        Ok(self.fresh(level))
    }
    fn bootstrap(&self, a: &Book, _: u32, level: Level) -> Result<Book, OpError> {
        let needed = SLOTS_TO_COEFFS;
        if a.level.0 != needed || level <= a.level {
            return Err(OpError::Level { needed, available: a.level.0 });
        }
        Ok(self.fresh(level))
    }
    fn linear(&self, x: &[Book], map: &Map) -> Result<Vec<Book>, OpError> {
        let out = match (x.first(), map.masks) {
            (Some(a), true) => self.product(a, a.scale)?,
            (Some(a), false) => *a,
            (None, _) => return Err(OpError::Empty),
        };
        x.iter().try_for_each(|a| Books::same(&x[0], a))?;
        Ok(vec![out; map.transform.outputs])
    }
    fn masked_matmul(&self, a: &Book, b: &Book, _: usize) -> Result<Book, OpError> {
        Books::same(a, b)?;
        let spread = self.product(a, a.scale)?;
        self.product(&spread, spread.scale)
    }
    fn matmul(&self, terms: &[(&Book, &Book)]) -> Result<Book, OpError> {
        let (first, _) = terms.first().ok_or(OpError::Empty)?;
        terms.iter().try_for_each(|(a, b)| Books::same(first, a).and(Books::same(first, b)))?;
        self.product(first, first.scale)
    }
    fn matmul_clear(&self, terms: &[(&Book, Vec<f64>)]) -> Result<Book, OpError> {
        let (first, _) = terms.first().ok_or(OpError::Empty)?;
        terms.iter().try_for_each(|(a, _)| Books::same(first, a))?;
        self.product(first, first.scale)
    }
    fn flip(&self, a: &Book) -> Result<Book, OpError> {
        Ok(*a)
    }
}
