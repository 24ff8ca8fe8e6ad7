use super::*;
use crate::build::group_sizes::Link;
use crate::embedded::Embedded;
use crate::lanes::from_planes;
use crate::step::ChoiceStep;

const NUMBERS: [i64; 5] = [3, -4, 0, 2, -1];

fn world() -> (Embedded, Step) {
    let parties = Embedded::new([1; 32], [2; 32], 3).expect("legal");
    let step = ChoiceStep::new(5, vec![3, 3, 4], 2, Link::default()).expect("legal");
    (parties, Step::Choice(step))
}

fn opened(
    parties: &Embedded,
    step: &Step,
    attempt: &AttemptId,
    trustee: TrusteeId,
    upload: &Upload,
) -> Result<OpenedUpload, UploadRefused> {
    let setting = parties.setting(*attempt, &std::sync::Arc::new(step.clone()), trustee);
    let key = setting.client_keys[upload.client.0 as usize % 3]
        .as_ref()
        .expect("enrolled");
    upload
        .clone()
        .open(attempt, step, &setting.roster, (trustee, key))
}

#[test]
fn the_shares_of_three_trustees_are_the_numbers() {
    let (parties, step) = world();
    let id = parties.attempt(0);
    let upload = parties
        .upload(id, &step, ClientId(2), &NUMBERS)
        .expect("fits");
    let bytes = upload.encode();
    assert_eq!(Upload::encoded_len(&step, ClientId(2)), Ok(bytes.len()));
    let upload = Upload::decode(&bytes).expect("own");
    let shares: Vec<_> = TrusteeId::ALL
        .iter()
        .map(|trustee| opened(&parties, &step, &id, *trustee, &upload).expect("good"))
        .map(|opened| opened.planes(step.lanes()))
        .collect();
    let planes: Vec<Vec<u64>> = (0..4)
        .map(|plane| {
            let own = shares.iter().map(|shares| &shares[plane].own);
            own.fold(vec![0; 1], |sum, share| vec![sum[0] ^ share[0]])
        })
        .collect();
    for (mine, theirs) in shares.iter().zip(shares.iter().cycle().skip(1)) {
        for (mine, theirs) in mine.iter().zip(theirs) {
            assert_eq!(mine.next, theirs.own);
        }
    }
    let expected = step.contribution(ClientId(2), &NUMBERS).expect("fits");
    let lanes = step.lanes();
    assert_eq!(from_planes(&planes, lanes), from_planes(&expected, lanes));
}

#[test]
fn an_upload_for_another_place_is_refused() {
    let (parties, step) = world();
    let id = parties.attempt(0);
    let upload = parties
        .upload(id, &step, ClientId(0), &NUMBERS)
        .expect("fits");
    let trustee = TrusteeId::ALL[1];
    let other_ids = [
        AttemptId { attempt: 1, ..id },
        AttemptId { step: 1, ..id },
        AttemptId {
            study: [9; 32],
            ..id
        },
        AttemptId {
            transcript: [9; 32],
            ..id
        },
    ];
    for other in other_ids {
        let refused = opened(&parties, &step, &other, trustee, &upload);
        assert_eq!(
            refused.expect_err("another attempt"),
            UploadRefused::OtherAttempt
        );
    }
    let mut sent_as_own = upload.clone();
    sent_as_own.client = ClientId(1);
    let refused = opened(&parties, &step, &id, trustee, &sent_as_own).expect_err("not its own");
    assert_eq!(
        refused,
        UploadRefused::Signature {
            client: ClientId(1)
        }
    );
    let mut stranger = upload.clone();
    stranger.client = ClientId(30);
    let refused = opened(&parties, &step, &id, trustee, &stranger).expect_err("a stranger");
    assert_eq!(
        refused,
        UploadRefused::Stranger {
            client: ClientId(30)
        }
    );
    let mut short = upload;
    short.masked.truncate(16);
    let refused = opened(&parties, &step, &id, trustee, &short).expect_err("too short");
    assert!(matches!(refused, UploadRefused::Length { found: 16, .. }));
}

/// A client that signs what does not fit is left out by the trustee that it lies to.
#[test]
fn secrets_that_do_not_fit_and_swapped_envelopes_are_refused() {
    let (parties, step) = world();
    let id = parties.attempt(0);
    let client = ClientId(0);
    let identity = parties.client_identity(client);
    let upload = parties.upload(id, &step, client, &NUMBERS).expect("fits");
    let resigned = |mut upload: Upload| {
        upload.signature = identity.sign_statement(KIND, &upload.digest());
        upload
    };
    let mut other_commitment = upload.clone();
    other_commitment.commitments[2][0] ^= 1;
    let mut swapped = upload.clone();
    swapped.envelopes.swap(0, 1);
    let mut other_planes = upload.clone();
    other_planes.masked[0] ^= 1;
    for changed in [other_commitment, swapped, other_planes] {
        let changed = resigned(changed);
        let refused = opened(&parties, &step, &id, TrusteeId::ALL[1], &changed);
        assert_eq!(
            refused.expect_err("does not fit"),
            UploadRefused::Envelope { client }
        );
    }
    for place in (0..upload.encode().len()).step_by(11) {
        let mut bytes = upload.encode();
        bytes[place] ^= 4;
        let refused = Upload::decode(&bytes)
            .map(|upload| opened(&parties, &step, &id, TrusteeId::ALL[0], &upload).is_err());
        assert!(refused.unwrap_or(true), "byte {place}");
    }
}

/// A client that was put back to an older copy and asked again masks another vector with other
/// streams, and seals other secrets with another key.
#[test]
fn other_numbers_or_another_attempt_have_other_secrets() {
    let (parties, step) = world();
    let id = parties.attempt(0);
    let upload = |id, numbers: &[i64]| {
        parties
            .upload(id, &step, ClientId(0), numbers)
            .expect("fits")
    };
    let first = upload(id, &NUMBERS);
    assert_eq!(first, upload(id, &NUMBERS), "asked again, the same bytes");
    for other in [
        upload(id, &[3, -4, 0, 2, 0]),
        upload(parties.attempt(1), &NUMBERS),
        upload(
            AttemptId {
                transcript: [9; 32],
                ..id
            },
            &NUMBERS,
        ),
    ] {
        for place in 0..3 {
            assert_ne!(first.commitments[place], other.commitments[place]);
            assert_ne!(first.envelopes[place], other.envelopes[place]);
        }
    }
}
