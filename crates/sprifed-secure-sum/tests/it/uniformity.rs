//! The coordinator's view of one upload, given everything of everybody else, is uniform.

use sprifed_secure_sum::*;

use crate::world::{World, noised, participation};

/// The probability with which a test that should pass is allowed to fail.
const FALSE_ALARM: f64 = 1e-6;

#[test]
fn an_upload_looks_uniform_whatever_it_hides() {
    let participation = participation(3, 3, 0);
    let coordinates = 20_000;
    let mut world = World::new(participation, coordinates, 8, 1);
    world.exchange_keys(&[], &[]);
    let part = noised(participation, coordinates, 5);
    world.clients[0].upload(0, &part).expect("uploads");
    let mut packed = Vec::new();
    while let Some(output) = world.clients[0].poll_output() {
        if let ClientOutput::Send(message) = output {
            let Ok(Body::Upload(upload)) = Body::decode(Phase::Upload, &message.body) else {
                panic!("not an upload")
            };
            packed = upload.packed;
        }
    }
    assert_eq!(packed.len(), coordinates as usize);
    // The noise alone is far from uniform, so the test has something to find.
    let plain: Vec<u8> = part
        .values()
        .iter()
        .map(|value| value.to_le_bytes()[0])
        .collect();
    assert!(chi_square(&plain) > 100.0 * limit());
    assert!(
        chi_square(&packed) < limit(),
        "entries: {}",
        chi_square(&packed)
    );
    // Neighbouring entries do not know of each other, nor the upload of what it hides.
    let differences: Vec<u8> = packed
        .windows(2)
        .map(|pair| pair[0].wrapping_sub(pair[1]))
        .collect();
    assert!(chi_square(&differences) < limit());
    let hidden: Vec<u8> = packed
        .iter()
        .zip(&plain)
        .map(|(masked, plain)| masked.wrapping_sub(*plain))
        .collect();
    assert!(chi_square(&hidden) < limit());
}

fn chi_square(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let expected = f64::from(u32::try_from(bytes.len()).expect("short")) / 256.0;
    counts
        .iter()
        .map(|count| (f64::from(*count) - expected).powi(2) / expected)
        .sum()
}

/// The value that χ² with 255 degrees of freedom exceeds with probability [`FALSE_ALARM`], by the
/// Wilson–Hilferty approximation at 4.75 standard deviations.
fn limit() -> f64 {
    assert!((FALSE_ALARM - 1e-6).abs() < 1e-12, "4.75 belongs to 1e-6");
    let spread = 2.0 / (9.0 * 255.0);
    255.0 * (1.0 - spread + 4.75 * f64::sqrt(spread)).powi(3)
}
