//! Hybrid key switching: from c s' to an encryption under s, for any source s' that has a key.
//!
//! Three steps, usable on their own: [`Chain::decompose`] cuts c into digits over P Q_l (mod-up; shared by all automorphisms
//! of one ciphertext: hoisting), [`Chain::key_product`] sums digits times key, and the pair so found, P times too large, is
//! divided by P ([`Chain::mod_down`]) or by P q_l at once ([`Chain::mod_down_rescale`]). Sums of [`Extended`] pairs need one
//! division.
//!
//! Reference: Han, Ki 2019/688, section 3; hoisting after Halevi, Shoup 2018/244; sums before the division after Bossuat
//! et al. 2020/1203, section 4.

use crate::math::modulus::Modulus;
use crate::math::products::Products;
use crate::ring::{Form, Galois, Poly, ValueMap, for_each_limb, for_each_limb_pair};
use crate::rlwe::chain::DigitTables;
use crate::rlwe::ciphertext::check_degree;
use crate::rlwe::{Chain, Ciphertext, EvaluationKeys, KeySource, RlweError, SwitchKey};
use rayon::prelude::*;

/// The digits of one polynomial, each modulo P Q_l, as values.
#[derive(Clone, Debug)]
pub struct Digits {
    polys: Vec<Poly>,
    level: usize,
}

impl Digits {
    /// Level of the polynomial that was decomposed.
    pub fn level(&self) -> usize {
        self.level
    }
}

/// A pair (b, a) modulo P Q_l that decrypts to P times a plaintext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extended {
    pub(super) body: Poly,
    pub(super) mask: Poly,
}

impl Extended {
    /// self += other, of the same level.
    pub fn add_assign(&mut self, chain: &Chain, other: &Extended) {
        chain.extended_ring().add_assign(&mut self.body, &other.body);
        chain.extended_ring().add_assign(&mut self.mask, &other.mask);
    }

    /// self += m other, for values m in the extended ring.
    pub fn mul_add_assign(&mut self, chain: &Chain, m: &Poly, other: &Extended) {
        chain.extended_ring().mul_add_assign(&mut self.body, m, &other.body);
        chain.extended_ring().mul_add_assign(&mut self.mask, m, &other.mask);
    }

    /// self += P (b, a) for polynomials b and a modulo Q_l.
    pub fn add_scaled(&mut self, chain: &Chain, body: &Poly, mask: &Poly) {
        add_scaled(chain, &mut self.body, body);
        add_scaled(chain, &mut self.mask, mask);
    }

    pub(super) fn level(&self, chain: &Chain) -> usize {
        self.body.limbs() - chain.special_primes() - 1
    }
}

impl Chain {
    /// The zero pair at a level.
    pub fn extended_zero(&self, level: usize) -> Extended {
        let zero = self.extended_ring().zero(self.extended_limbs(level), Form::Evaluation);
        Extended { body: zero.clone(), mask: zero }
    }

    /// P (c_0, c_1): a ciphertext of degree 1 as an extended pair.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`].
    pub fn extend(&self, ct: &Ciphertext) -> Result<Extended, RlweError> {
        check_degree(ct, 1)?;
        let mut pair = self.extended_zero(ct.level());
        pair.add_scaled(self, ct.body(), ct.mask());
        Ok(pair)
    }

    /// The digits of a polynomial given by values modulo q_0, ..., q_l.
    pub fn decompose(&self, poly: &Poly) -> Digits {
        assert_eq!(poly.form(), Form::Evaluation, "digits are made from values");
        let (level, k) = (poly.limbs() - 1, self.special_primes());
        let (ring, ext) = (self.ring(), self.extended_ring());
        let mut coefficients = poly.clone();
        ring.intt(&mut coefficients);
        let digit = |digit: &DigitTables| {
            let limbs = digit.primes.clone().map(|i| coefficients.limb(i).to_vec()).collect();
            let scaled = digit.converter.scale(limbs);
            let mut extended = ext.zero(self.extended_limbs(level), Form::Evaluation);
            for_each_limb(&mut extended, |i, limb| match i.checked_sub(k) {
                Some(own) if digit.primes.contains(&own) => limb.copy_from_slice(poly.limb(own)),
                _ => {
                    digit.converter.convert(&scaled, i, limb);
                    ext.ntt_limb(i, limb);
                }
            });
            extended
        };
        Digits { polys: self.level(level).digits.par_iter().map(digit).collect(), level }
    }

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
        let needed = self.key_level(digits.level);
        if key.level() < needed {
            return Err(RlweError::LevelTooLow { needed, available: key.level() });
        }
        let numbers: Vec<usize> = self.level(digits.level).digits.iter().map(|d| d.number).collect();
        let mut sum = self.extended_zero(digits.level);
        let map = (sigma != Galois::default()).then(|| ValueMap::new(self.ring_spec(), sigma));
        let (bodies, masks, ring) = (key.bodies(), key.masks(self), self.extended_ring());
        for_each_limb_pair(&mut sum.body, &mut sum.mask, |i, body, mask| {
            let mapped: Option<Vec<Vec<u64>>> = map.as_ref().map(|map| {
                let image = |digit: &Poly| {
                    let mut image = vec![0; digit.degree()];
                    map.apply(digit.limb(i), &mut image);
                    image
                };
                digits.polys.iter().map(image).collect()
            });
            let limbs: Vec<&[u64]> = match &mapped {
                Some(images) => images.iter().map(Vec::as_slice).collect(),
                None => digits.polys.iter().map(|digit| digit.limb(i)).collect(),
            };
            let of = |keys: &[Poly], out: &mut [u64]| {
                let keys = numbers.iter().map(|&n| keys[n].limb(self.key_limb(i)));
                inner_product(ring.modulus(i), &limbs, keys, out);
            };
            of(bodies, body);
            of(masks, mask);
        });
        Ok(sum)
    }

    /// Division by P with rounding.
    pub fn mod_down(&self, pair: &Extended) -> Ciphertext {
        let (ext, divider) = (self.extended_ring(), &self.level(pair.level(self)).mod_down);
        Ciphertext::from_parts(vec![divider.divide(ext, &pair.body), divider.divide(ext, &pair.mask)])
    }

    /// Division by P q_l with one rounding: mod-down and rescale.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] at level 0.
    pub fn mod_down_rescale(&self, pair: &Extended) -> Result<Ciphertext, RlweError> {
        let (ext, level) = (self.extended_ring(), pair.level(self));
        let divider = self.level(level).mod_down_rescale.as_ref();
        let divider = divider.ok_or(RlweError::LevelTooLow { needed: 1, available: level })?;
        Ok(Ciphertext::from_parts(vec![divider.divide(ext, &pair.body), divider.divide(ext, &pair.mask)]))
    }

    /// From degree 2 to degree 1; the plaintext is unchanged.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`], or when the key for s^2 is missing.
    pub fn relinearize(&self, ct: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, RlweError> {
        check_degree(ct, 2)?;
        let mut switched = self.mod_down(&self.square_product(ct, keys)?);
        for (part, addend) in switched.parts_mut().iter_mut().zip(ct.parts()) {
            self.ring().add_assign(part, addend);
        }
        Ok(switched)
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
        let mut product = self.square_product(ct, keys)?;
        product.add_scaled(self, ct.body(), ct.mask());
        self.mod_down_rescale(&product)
    }

    fn square_product(&self, ct: &Ciphertext, keys: &EvaluationKeys) -> Result<Extended, RlweError> {
        let key = keys.get(KeySource::SQUARE, self.key_level(ct.level()))?;
        self.key_product(&self.decompose(&ct.parts()[2]), Galois::default(), key)
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
        self.automorphism_hoisted(ct, &self.decompose(ct.mask()), sigma, keys)
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
        let mut image = self.mod_down(&self.key_product(digits, sigma, key)?);
        let body = self.ring().automorphism(ct.body(), sigma);
        self.ring().add_assign(&mut image.parts_mut()[0], &body);
        Ok(image)
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
        let mut pair = self.key_product(digits, sigma, key)?;
        add_scaled(self, &mut pair.body, &self.ring().automorphism(ct.body(), sigma));
        Ok(pair)
    }
}

/// sum += P poly, with `sum` in the extended ring and `poly` in the ring of ciphertexts.
fn add_scaled(chain: &Chain, sum: &mut Poly, poly: &Poly) {
    let (ring, k) = (chain.ring(), chain.special_primes());
    for_each_limb(sum, |i, limb| {
        let Some(i) = i.checked_sub(k) else { return };
        let m: &Modulus = ring.modulus(i);
        let factor = m.shoup(chain.special_product()[i]);
        for (s, &x) in limb.iter_mut().zip(poly.limb(i)) {
            *s = m.add(*s, m.mul_shoup(x, factor));
        }
    });
}

/// out = sum_j limbs_j keys_j modulo m; at most 60 terms.
fn inner_product<'a>(
    m: &Modulus,
    limbs: &[&'a [u64]],
    keys: impl Iterator<Item = &'a [u64]>,
    out: &mut [u64],
) {
    let terms: Vec<_> = limbs.iter().copied().zip(keys).collect();
    Products::new(m).sum_of_products(&terms, out);
}
