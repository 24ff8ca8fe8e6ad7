use super::*;

#[test]
fn a_private_file_is_whole_alone_and_never_replaced() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/sprifed-net")
        .join(format!("private-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let inner = folder.join("secrets");
    create_private_folder(&inner).expect("a folder");
    let path = inner.join("party.key");
    create_private(&path, b"first").expect("written");
    create_private(&path, b"second").expect_err("it is there");
    assert_eq!(fs::read(&path).expect("read"), b"first");
    assert_eq!(fs::read_dir(&inner).expect("read").count(), 1, "no litter");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(mode(&folder), 0o700);
    }
    let _ = fs::remove_dir_all(folder);
}
