//! Tensor files: numpy's own bytes, archives, .safetensors, and broken files of every kind.

use plan::Tensor;
use proptest::prelude::*;
use runtime::data::{DataError, read_tensor, write_npy};
use std::path::{Path, PathBuf};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fhec-data-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path)
}

#[test]
fn files_of_numpy_and_safetensors_are_read() {
    let x = read_tensor(&example("digits/x.npy"), None).unwrap();
    assert_eq!(x.shape(), [256, 64]);
    assert!(x.data().iter().all(|v| (0.0..=1.0).contains(v)) && x.max_abs() == 1.0);
    let labels = read_tensor(&example("digits/labels.npy"), None).unwrap();
    assert!(labels.data().iter().all(|v| v.fract() == 0.0 && (0.0..10.0).contains(v)));
    let weights = example("digits/weights.safetensors");
    assert_eq!(read_tensor(&weights, Some("fc1.weight")).unwrap().shape(), [64, 32]);
    let DataError::MissingKey { key, keys, .. } = read_tensor(&weights, Some("fc1.wieght")).unwrap_err()
    else {
        panic!("another error")
    };
    assert_eq!((key.as_str(), keys.len(), keys[0].as_str()), ("fc1.wieght", 4, "fc1.bias"));
}

#[test]
fn written_files_are_read_back() {
    let folder = Folder::new("roundtrip");
    for shape in [vec![], vec![5], vec![2, 3], vec![2, 1, 3, 4]] {
        let n = shape.iter().product::<usize>();
        let tensor = Tensor::new(shape, (0..n).map(|i| (i as f64).sin()).collect()).unwrap();
        let path = folder.0.join("t.npy");
        write_npy(&path, &tensor).unwrap();
        assert_eq!(read_tensor(&path, None).unwrap(), tensor);
        assert_eq!((std::fs::read(&path).unwrap().len() - 8 * n) % 64, 0);
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}

/// A zip archive of one entry, as `zipfile` writes it.
fn archive(name: &str, method: u16, data: &[u8], size: usize) -> Vec<u8> {
    let fields = |head: &[u8]| {
        let mut f = head.to_vec();
        f.extend([20, 0, 0, 0]);
        f.extend(method.to_le_bytes());
        f.extend([0; 8]); // time, date, crc: not checked
        f.extend((data.len() as u32).to_le_bytes());
        f.extend((size as u32).to_le_bytes());
        f.extend((name.len() as u16).to_le_bytes());
        f.extend([0, 0]);
        f
    };
    let local = [&fields(b"PK\x03\x04")[..], name.as_bytes(), data].concat();
    let mut central = fields(b"PK\x01\x02\x14\x00");
    central.extend([0; 14]);
    central.extend(name.as_bytes());
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend((central.len() as u32).to_le_bytes());
    end.extend((local.len() as u32).to_le_bytes());
    end.extend([0, 0]);
    [local, central, end].concat()
}

fn npy(values: &[f64]) -> Vec<u8> {
    let folder = Folder::new(&format!("npy-{}", values.len()));
    let path = folder.0.join("t.npy");
    write_npy(&path, &Tensor::new(vec![values.len()], values.to_vec()).unwrap()).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn archives_are_read() {
    let folder = Folder::new("npz");
    let entry = npy(&[1.0, 2.0, 3.0]);
    let stored = folder.file("a.npz", &archive("w.npy", 0, &entry, entry.len()));
    assert_eq!(read_tensor(&stored, Some("w")).unwrap().data(), [1.0, 2.0, 3.0]);
    assert!(
        read_tensor(&stored, Some("v")).unwrap_err().to_string().ends_with("has no tensor `v`; it has `w`")
    );
    assert_eq!(read_tensor(&stored, None).unwrap().data(), [1.0, 2.0, 3.0]);
    let several = read_tensor(&example("digits/weights.safetensors"), None).unwrap_err();
    assert!(several.to_string().contains("holds 4 tensors"), "{several}");
    // a deflate stream with one stored block
    let len = entry.len() as u16;
    let block = [&[1], &len.to_le_bytes()[..], &(!len).to_le_bytes(), &entry].concat();
    let deflated = folder.file("b.npz", &archive("w.npy", 8, &block, entry.len()));
    assert_eq!(read_tensor(&deflated, Some("w")).unwrap().data(), [1.0, 2.0, 3.0]);
    let bomb = folder.file("c.npz", &archive("w.npy", 8, &block, 1 << 31));
    assert!(read_tensor(&bomb, Some("w")).unwrap_err().to_string().contains("size of an entry"));
    let method = folder.file("d.npz", &archive("w.npy", 12, &block, entry.len()));
    assert!(read_tensor(&method, Some("w")).unwrap_err().to_string().contains("method 12"));
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new("other");
    let message = |path: &Path| read_tensor(path, Some("x")).unwrap_err().to_string();
    assert!(message(&folder.file("a.csv", b"1,2")).contains(".csv is no format"));
    assert!(message(&folder.0.join("missing.npy")).contains("No such file"));
    let directory = folder.0.join("d.npy");
    std::fs::create_dir(&directory).unwrap();
    assert!(message(&directory).contains("not a regular file"));
    assert!(message(&folder.file("e.npy", b"")).contains("magic at byte 0"));
    assert!(message(&folder.file("e.npz", b"PK")).contains("end record"));
    assert!(message(&folder.file("e.safetensors", b"{}")).contains("header"));
}

proptest! {
    #[test]
    fn damaged_files_are_errors_or_tensors(
        kind in 0usize..3,
        cut in 0.0..1.0f64,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = match kind {
            0 => npy(&[1.0; 40]),
            1 => { let e = npy(&[1.0; 41]); archive("w.npy", 0, &e, e.len()) }
            _ => std::fs::read(example("regression/weights.safetensors")).unwrap(),
        };
        edits.iter().for_each(|(at, b)| { let i = at.index(bytes.len()); bytes[i] = *b; });
        if cut < 0.3 {
            bytes.truncate((bytes.len() as f64 * cut / 0.3) as usize);
        }
        let folder = Folder::new("damaged");
        let name = ["t.npy", "t.npz", "t.safetensors"][kind];
        let _ = read_tensor(&folder.file(name, &bytes), Some(if kind == 1 { "w" } else { "linear.weight" }));
    }
}
