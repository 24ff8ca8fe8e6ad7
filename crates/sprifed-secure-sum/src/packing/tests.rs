use super::*;

#[test]
fn twelve_bits_take_twelve_bits() {
    let shape = SumShape::new(3, 12).expect("legal");
    let packed = pack(&[0xabcu16, 0x123, 0xfff], shape);
    assert_eq!(packed, [0xbc, 0x3a, 0x12, 0xff, 0x0f]);
    assert!(is_packed(&packed, shape));
    let mut words = [1u16, 0, 0];
    add_unpacked(&packed, 12, &mut words);
    assert_eq!(words, [0xabd, 0x123, 0xfff]);
}

#[test]
fn bits_after_the_end_are_refused() {
    let shape = SumShape::new(3, 12).expect("legal");
    assert!(!is_packed(&[0, 0, 0, 0, 0x10], shape));
    assert!(!is_packed(&[0, 0, 0, 0], shape));
    assert!(!is_packed(&[0; 6], shape));
}
