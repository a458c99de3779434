//! What the process used so far, where the system says so (Linux).

/// CPU seconds of all threads, to a hundredth of a second.
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // fields 14 and 15 of proc(5), counted after the name in parentheses, in ticks of 10 ms
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Begins anew to record the largest resident memory, where the system can.
pub fn reset_peak() {
    // proc(5): 5 resets VmHWM. Without it the peak is that since the start.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The largest resident memory so far, in bytes.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
