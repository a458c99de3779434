//! Digits of a polynomial (mod-up): its residues modulo the primes of one digit, taken as a centred integer and extended to
//! all of P Q_l.
//!
//! A switch that needs the digits once makes every limb where it is multiplied; automorphisms of one ciphertext share
//! stored ones, since an automorphism permutes coefficients up to their signs (hoisting: Halevi, Shoup 2018/244).

use crate::math::buffer::Buffer;
use crate::math::parallel;
use crate::math::rns::Scaled;
use crate::ring::{Form, Galois, Poly, ValueMap, for_each_limb};
use crate::rlwe::Chain;
use crate::rlwe::chain::DigitTables;
use std::ops::Deref;

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

/// Where the digits of a polynomial come from, limb by limb.
pub(super) enum Source<'a> {
    /// a polynomial
    Cut(Cut<'a>),
    /// stored digits, under an automorphism
    Stored(&'a Digits, Option<ValueMap>),
}

/// A polynomial cut into digits that are yet to be extended.
pub(super) struct Cut<'a> {
    poly: &'a Poly,
    scaled: Vec<Scaled>,
}

/// A limb of a digit.
pub(super) enum Limb<'a> {
    Stored(&'a [u64]),
    Made(Buffer),
}

impl Deref for Limb<'_> {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Limb::Stored(words) => words,
            Limb::Made(words) => words,
        }
    }
}

impl<'a> Source<'a> {
    /// The digits under an automorphism.
    pub(super) fn mapped(chain: &Chain, digits: &'a Digits, sigma: Galois) -> Source<'a> {
        let map = (sigma != Galois::default()).then(|| ValueMap::new(chain.ring_spec(), sigma));
        Source::Stored(digits, map)
    }

    pub(super) fn level(&self) -> usize {
        match self {
            Source::Cut(cut) => cut.level(),
            Source::Stored(digits, _) => digits.level,
        }
    }

    /// Limb `i` of the extended ring of digit number `digit`.
    pub(super) fn limb(&self, chain: &Chain, digit: usize, i: usize) -> Limb<'_> {
        let made = |write: &dyn Fn(&mut [u64])| {
            let mut limb = Buffer::dirty(chain.ring().degree());
            write(&mut limb);
            Limb::Made(limb)
        };
        match self {
            Source::Cut(cut) => match cut.own(chain, digit, i) {
                Some(limb) => Limb::Stored(limb),
                None => made(&|limb| cut.extend(chain, digit, i, limb)),
            },
            Source::Stored(digits, None) => Limb::Stored(digits.polys[digit].limb(i)),
            Source::Stored(digits, Some(map)) => made(&|limb| map.apply(digits.polys[digit].limb(i), limb)),
        }
    }
}

impl<'a> Cut<'a> {
    /// Cuts a polynomial given by values modulo q_0, ..., q_l.
    pub(super) fn new(chain: &Chain, poly: &'a Poly) -> Cut<'a> {
        assert_eq!(poly.form(), Form::Evaluation, "digits are made from values");
        let ring = chain.ring();
        let scale = |digit: &DigitTables| {
            let [scaled] = digit.converter.scale(ring.degree(), |i, c, [limb]: [&mut [u64]; 1]| {
                let i = digit.primes.start + i;
                limb.copy_from_slice(poly.limb(i));
                ring.intt_limb_scaled(i, limb, c);
            });
            scaled
        };
        Cut { poly, scaled: parallel::map(&chain.level(poly.limbs() - 1).digits, scale) }
    }

    fn level(&self) -> usize {
        self.poly.limbs() - 1
    }

    /// Limb `i` of the extended ring, where its prime is one of the digit's own.
    fn own(&self, chain: &Chain, digit: usize, i: usize) -> Option<&'a [u64]> {
        let own = i.checked_sub(chain.special_primes())?;
        chain.level(self.level()).digits[digit].primes.contains(&own).then(|| self.poly.limb(own))
    }

    /// Writes limb `i` of the extended ring, where its prime is another.
    fn extend(&self, chain: &Chain, digit: usize, i: usize, limb: &mut [u64]) {
        chain.level(self.level()).digits[digit].converter.convert(&self.scaled[digit], i, limb);
        chain.extended_ring().ntt_limb(i, limb);
    }
}

impl Chain {
    /// The digits of a polynomial given by values modulo q_0, ..., q_l.
    pub fn decompose(&self, poly: &Poly) -> Digits {
        let (cut, level) = (Cut::new(self, poly), poly.limbs() - 1);
        let numbers: Vec<usize> = (0..self.digits(level)).collect();
        let extended = |&digit: &usize| {
            let mut extended = self.extended_ring().dirty(self.extended_limbs(level), Form::Evaluation);
            for_each_limb([&mut extended], |i, [limb]| match cut.own(self, digit, i) {
                Some(own) => limb.copy_from_slice(own),
                None => cut.extend(self, digit, i, limb),
            });
            extended
        };
        Digits { polys: parallel::map(&numbers, extended), level }
    }
}
