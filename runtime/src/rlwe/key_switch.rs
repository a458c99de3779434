//! Hybrid key switching: from c s' to an encryption under s, for any source s' that has a key.
//!
//! Three steps: c is cut into digits over P Q_l ([`Chain::decompose`]), digits times key are summed
//! ([`Chain::key_product`]), and the pair so found, P times too large, is divided by P ([`Chain::mod_down`]) or by P q_l at once
//! ([`Chain::mod_down_rescale`]). [`Chain::switch`] and [`Chain::switch_rescale`] do all three prime by prime, so that
//! neither digits nor the pair are ever stored: the primes to be divided away first, then each of the others.
//!
//! Reference: Han, Ki 2019/688, section 3.

use crate::math::products::Products;
use crate::ring::{Form, Galois, Poly, for_each_limb};
use crate::rlwe::chain::DigitTables;
use crate::rlwe::ciphertext::check_degree;
use crate::rlwe::digits::{Cut, Source};
use crate::rlwe::divide::Divider;
use crate::rlwe::{Chain, Ciphertext, Digits, EvaluationKeys, Extended, KeySource, RlweError, SwitchKey};

/// sum_i c_i s_i' + P (b, a), limb by limb.
struct Sum<'a> {
    chain: &'a Chain,
    /// digits of each c_i, bodies and masks of its key
    switches: Vec<(Source<'a>, &'a [Poly], &'a [Poly])>,
    /// b and a, modulo Q_l
    addend: [Option<&'a Poly>; 2],
}

impl<'a> Sum<'a> {
    fn new(
        chain: &'a Chain,
        switches: impl IntoIterator<Item = (Source<'a>, &'a SwitchKey)>,
        addend: [Option<&'a Poly>; 2],
    ) -> Result<Sum<'a>, RlweError> {
        let switch = |(source, key): (Source<'a>, &'a SwitchKey)| {
            let needed = chain.key_level(source.level());
            if key.level() < needed {
                return Err(RlweError::LevelTooLow { needed, available: key.level() });
            }
            Ok((source, key.bodies(), key.masks(chain)))
        };
        let switches = switches.into_iter().map(switch).collect::<Result<_, _>>()?;
        Ok(Sum { chain, switches, addend })
    }

    /// Writes limb `i` of the extended ring of both components.
    fn limb(&self, i: usize, out: [&mut [u64]; 2]) {
        let (m, key_limb) = (self.chain.extended_ring().modulus(i), self.chain.key_limb(i));
        let digits = self.switches.iter().flat_map(|(source, bodies, masks)| {
            let tables = self.chain.level(source.level()).digits.iter().enumerate();
            tables.map(move |(j, DigitTables { number, .. })| {
                let key = [bodies, masks].map(|parts| parts[*number].limb(key_limb));
                (source.limb(self.chain, j, i), key)
            })
        });
        let digits: Vec<_> = digits.collect();
        let terms: Vec<_> = digits.iter().map(|(digit, keys)| (&**digit, *keys)).collect();
        let own = i.checked_sub(self.chain.special_primes());
        let start = self.addend.map(|addend| {
            let (addend, own) = addend.zip(own)?;
            Some((addend.limb(own), m.shoup(self.chain.special_product()[own])))
        });
        Products::new(m).sums_of_products(start, &terms, out);
    }

    fn divide(&self, divider: &Divider) -> Ciphertext {
        let parts = divider.divide(self.chain.extended_ring(), |i, out| self.limb(i, out));
        Ciphertext::from_parts(parts.into())
    }
}

impl Chain {
    /// sum_j sigma(digit_j) (b_j, a_j): P sigma(c) s' for the source s' of the key, under s.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the key serves lower levels only.
    pub fn key_product(
        &self,
        digits: &Digits,
        sigma: Galois,
        key: &SwitchKey,
    ) -> Result<Extended, RlweError> {
        self.product(Source::mapped(self, digits, sigma), key, [None; 2])
    }

    fn product(
        &self,
        source: Source,
        key: &SwitchKey,
        addend: [Option<&Poly>; 2],
    ) -> Result<Extended, RlweError> {
        let limbs = self.extended_limbs(source.level());
        let sum = Sum::new(self, [(source, key)], addend)?;
        let zero = || self.extended_ring().dirty(limbs, Form::Evaluation);
        let (mut body, mut mask) = (zero(), zero());
        for_each_limb([&mut body, &mut mask], |i, out| sum.limb(i, out));
        Ok(Extended { body, mask })
    }

    /// P c s' for the source s' of the key, under s: the key product of the digits of c, which are not stored.
    ///
    /// # Errors
    /// As [`Chain::key_product`].
    pub fn switch_extended(&self, c: &Poly, key: &SwitchKey) -> Result<Extended, RlweError> {
        self.product(Source::Cut(Cut::new(self, c)), key, [None; 2])
    }

    /// sum_i c_i s_i' + b + a s under s, for polynomials c_i (values modulo q_0, ..., q_l, the same l for all), each with the
    /// key for s_i'; (b, a) is the addend, zero where absent. At least one polynomial.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when a key serves lower levels only.
    pub fn switch(
        &self,
        switches: &[(&Poly, &SwitchKey)],
        addend: [Option<&Poly>; 2],
    ) -> Result<Ciphertext, RlweError> {
        let level = switches[0].0.limbs() - 1;
        Ok(self.sum(switches, addend)?.divide(&self.level(level).mod_down))
    }

    /// As [`Chain::switch`], divided by q_l with the same rounding: one level down.
    ///
    /// # Errors
    /// As [`Chain::switch`], and [`RlweError::LevelTooLow`] at level 0.
    pub fn switch_rescale(
        &self,
        switches: &[(&Poly, &SwitchKey)],
        addend: [Option<&Poly>; 2],
    ) -> Result<Ciphertext, RlweError> {
        let divider = self.mod_down_rescale_divider(switches[0].0.limbs() - 1)?;
        Ok(self.sum(switches, addend)?.divide(divider))
    }

    fn sum<'a>(
        &'a self,
        switches: &[(&'a Poly, &'a SwitchKey)],
        addend: [Option<&'a Poly>; 2],
    ) -> Result<Sum<'a>, RlweError> {
        let cut = |&(poly, key): &(&'a Poly, &'a SwitchKey)| (Source::Cut(Cut::new(self, poly)), key);
        Sum::new(self, switches.iter().map(cut), addend)
    }

    /// From degree 2 to degree 1; the plaintext is unchanged.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`], or when the key for s^2 is missing.
    pub fn relinearize(&self, ct: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, RlweError> {
        check_degree(ct, 2)?;
        let key = keys.get(KeySource::SQUARE, self.key_level(ct.level()))?;
        self.switch(&[(&ct.parts()[2], key)], [Some(ct.body()), Some(ct.mask())])
    }

    /// From degree 2 to degree 1 and one level down, the plaintext divided by q_l, with a single rounding.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`], [`RlweError::LevelTooLow`] at level 0, or when the key for s^2 is missing.
    pub fn relinearize_rescale(
        &self,
        ct: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, RlweError> {
        check_degree(ct, 2)?;
        let key = keys.get(KeySource::SQUARE, self.key_level(ct.level()))?;
        self.switch_rescale(&[(&ct.parts()[2], key)], [Some(ct.body()), Some(ct.mask())])
    }

    /// The plaintext under an automorphism.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`] unless the degree is 1, or when the key for sigma(s) is missing.
    pub fn automorphism(
        &self,
        ct: &Ciphertext,
        sigma: Galois,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, RlweError> {
        check_degree(ct, 1)?;
        if sigma == Galois::default() {
            return Ok(ct.clone());
        }
        let key = keys.get(KeySource::Galois(sigma), self.key_level(ct.level()))?;
        let image = self.map(ct, sigma);
        self.switch(&[(image.mask(), key)], [Some(image.body()), None])
    }

    /// As [`Chain::automorphism`], given the digits of the mask of `ct`.
    ///
    /// # Errors
    /// As [`Chain::automorphism`].
    pub fn automorphism_hoisted(
        &self,
        ct: &Ciphertext,
        digits: &Digits,
        sigma: Galois,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, RlweError> {
        check_degree(ct, 1)?;
        if sigma == Galois::default() {
            return Ok(ct.clone());
        }
        let key = keys.get(KeySource::Galois(sigma), self.key_level(ct.level()))?;
        let body = self.ring().automorphism(ct.body(), sigma);
        let source = Source::mapped(self, digits, sigma);
        Ok(Sum::new(self, [(source, key)], [Some(&body), None])?.divide(&self.level(ct.level()).mod_down))
    }

    /// P times the plaintext under an automorphism, before the division by P; given the digits of the mask of `ct`.
    ///
    /// # Errors
    /// As [`Chain::automorphism`].
    pub fn automorphism_extended(
        &self,
        ct: &Ciphertext,
        digits: &Digits,
        sigma: Galois,
        keys: &EvaluationKeys,
    ) -> Result<Extended, RlweError> {
        if sigma == Galois::default() {
            return self.extend(ct);
        }
        check_degree(ct, 1)?;
        let key = keys.get(KeySource::Galois(sigma), self.key_level(ct.level()))?;
        let body = self.ring().automorphism(ct.body(), sigma);
        self.product(Source::mapped(self, digits, sigma), key, [Some(&body), None])
    }
}
