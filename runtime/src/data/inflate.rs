//! Decompression of deflate streams (RFC 1951), for compressed .npz files: canonical Huffman codes decoded bit by bit, as
//! in Mark Adler's puff. The output size is known before and never exceeded.

/// What is wrong with a stream.
pub(super) type Problem = &'static str;

/// Bytes that one compressed byte can become at most: a match of 258 bytes takes two bits or more.
pub(super) const MAX_RATIO: usize = 1032;

const LENGTH_BASE: [u16; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227, 258,
];
const LENGTH_EXTRA: [u8; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE: [u16; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
    4097, 6145, 8193, 12289, 16385, 24577,
];
const CODE_LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const TOO_LONG: Problem = "more data than the archive states";

/// The `size` bytes a deflate stream stands for.
pub(super) fn inflate(input: &[u8], size: usize) -> Result<Vec<u8>, Problem> {
    let mut bits = Bits { input, at: 0, buffer: 0, count: 0 };
    let mut out = Vec::with_capacity(size);
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, size)?,
            1 => {
                let lengths: Vec<u8> = (0..288)
                    .map(|s| 8 + u8::from((144..256).contains(&s)) - u8::from((256..280).contains(&s)))
                    .collect();
                codes(&mut bits, &mut out, size, &Code::new(&lengths)?, &Code::new(&[5; 30])?)?;
            }
            2 => {
                let (literals, distances) = dynamic(&mut bits)?;
                codes(&mut bits, &mut out, size, &literals, &distances)?;
            }
            _ => return Err("a block of an unknown type"),
        }
        if last {
            return if out.len() == size { Ok(out) } else { Err("less data than the archive states") };
        }
    }
}

struct Bits<'a> {
    input: &'a [u8],
    at: usize,
    buffer: u32,
    count: u32,
}

impl Bits<'_> {
    /// The next `n` <= 16 bits, least significant first.
    fn take(&mut self, n: u32) -> Result<u32, Problem> {
        while self.count < n {
            let byte = *self.input.get(self.at).ok_or("the stream ends early")?;
            self.buffer |= u32::from(byte) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.buffer & ((1 << n) - 1);
        self.buffer >>= n;
        self.count -= n;
        Ok(value)
    }
}

fn stored(bits: &mut Bits, out: &mut Vec<u8>, size: usize) -> Result<(), Problem> {
    (bits.buffer, bits.count) = (0, 0);
    let (len, check) = (bits.take(16)?, bits.take(16)?);
    if len != !check & 0xffff {
        return Err("a stored block whose length does not match its check");
    }
    let data =
        bits.input.get(bits.at..).and_then(|b| b.get(..len as usize)).ok_or("the stream ends early")?;
    if out.len() + data.len() > size {
        return Err(TOO_LONG);
    }
    bits.at += data.len();
    out.extend_from_slice(data);
    Ok(())
}

/// A canonical Huffman code: how many symbols each length has, and the symbols by length.
struct Code {
    count: [u16; 16],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Result<Code, Problem> {
        let mut count = [0u16; 16];
        lengths.iter().for_each(|&l| count[usize::from(l)] += 1);
        count[0] = 0;
        let room =
            (1..16).try_fold(1i32, |room, l| Some(2 * room - i32::from(count[l])).filter(|&room| room >= 0));
        if room.is_none() {
            return Err("a code with more symbols than its lengths allow");
        }
        let mut symbols: Vec<u16> =
            (0..lengths.len() as u16).filter(|&s| lengths[usize::from(s)] > 0).collect();
        symbols.sort_by_key(|&s| lengths[usize::from(s)]);
        Ok(Code { count, symbols })
    }

    fn symbol(&self, bits: &mut Bits) -> Result<u16, Problem> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for length in 1..16 {
            code |= bits.take(1)? as i32;
            let count = i32::from(self.count[length]);
            if code - count < first {
                return Ok(self.symbols[(index + code - first) as usize]);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err("a code that stands for nothing")
    }
}

fn dynamic(bits: &mut Bits) -> Result<(Code, Code), Problem> {
    let literals = bits.take(5)? as usize + 257;
    let distances = bits.take(5)? as usize + 1;
    let mut lengths = [0u8; 19];
    for &place in CODE_LENGTH_ORDER.iter().take(bits.take(4)? as usize + 4) {
        lengths[place] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths)?;
    let mut lengths: Vec<u8> = Vec::with_capacity(literals + distances);
    while lengths.len() < literals + distances {
        let (value, repeat) = match code.symbol(bits)? {
            16 => (*lengths.last().ok_or("a repeated length without a first one")?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length as u8, 1),
        };
        lengths.extend(std::iter::repeat_n(value, repeat as usize));
    }
    if lengths.len() > literals + distances {
        return Err("more code lengths than codes");
    }
    Ok((Code::new(&lengths[..literals])?, Code::new(&lengths[literals..])?))
}

fn codes(
    bits: &mut Bits,
    out: &mut Vec<u8>,
    size: usize,
    literals: &Code,
    distances: &Code,
) -> Result<(), Problem> {
    loop {
        let symbol = usize::from(literals.symbol(bits)?);
        if symbol == 256 {
            return Ok(());
        }
        if out.len() >= size {
            return Err(TOO_LONG);
        }
        if symbol < 256 {
            out.push(symbol as u8);
            continue;
        }
        let entry = symbol - 257;
        let base = *LENGTH_BASE.get(entry).ok_or("a length that is not defined")?;
        let length = usize::from(base) + bits.take(u32::from(LENGTH_EXTRA[entry]))? as usize;
        let entry = usize::from(distances.symbol(bits)?);
        let base = *DISTANCE_BASE.get(entry).ok_or("a distance that is not defined")?;
        let distance = usize::from(base) + bits.take((entry as u32 / 2).saturating_sub(1))? as usize;
        let start = out.len().checked_sub(distance).ok_or("a distance beyond the start")?;
        if out.len() + length > size {
            return Err(TOO_LONG);
        }
        (start..start + length).for_each(|at| out.push(out[at]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_streams() {
        // zlib level 0, level 9 with a fixed code
        let stored = [1, 5, 0, 0xfa, 0xff, b'h', b'e', b'l', b'l', b'o'];
        assert_eq!(inflate(&stored, 5).unwrap(), b"hello");
        let fixed = [0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x00];
        assert_eq!(inflate(&fixed, 17).unwrap(), b"hello hello hello");
    }

    #[test]
    fn broken_streams_are_errors() {
        let fixed = [0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x00];
        assert_eq!(inflate(&fixed, 16), Err(TOO_LONG));
        assert_eq!(inflate(&fixed, 18), Err("less data than the archive states"));
        for end in 0..fixed.len() - 1 {
            assert!(inflate(&fixed[..end], 17).is_err());
        }
        for (at, bit) in (0..fixed.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut broken = fixed;
            broken[at] ^= 1 << bit;
            let _ = inflate(&broken, 17);
        }
    }
}
