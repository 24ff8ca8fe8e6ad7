//! A folder that is taken after a step opens nothing of that step, although the coordinator kept every message.

use sprifed_trustees::{StepKey, Upload};

use super::*;

/// All uploads of the first step, and of which client they are.
fn uploads(net: &Net<'_>) -> Vec<Upload> {
    let told = net.told.iter().filter(|(to, _)| *to == net.seat(0));
    let upload = |bytes: &[u8]| match Order::decode(bytes) {
        Ok(Order::Trustees(TrusteesOrder::Upload(bytes))) => Upload::decode(&bytes).ok(),
        _ => None,
    };
    let uploads = told.filter_map(|(_, bytes)| upload(bytes));
    uploads
        .filter(|upload| upload.attempt().step == 0)
        .collect()
}

/// How many of the uploads the first trustee could open with these keys, one for each client.
fn opened(net: &Net<'_>, key: impl Fn(usize) -> Option<StepKey>) -> usize {
    let (agreed, trustee) = (&net.agreed, TrusteeId::ALL[0]);
    let step = agreed
        .trustees()
        .expect("trustees")
        .step(0)
        .expect("a step");
    let is_opened = |upload: &Upload| {
        let attempt = *upload.attempt();
        let key = key(upload.client().0 as usize);
        key.is_some_and(|key| {
            let upload = upload.clone();
            let opened = upload.open(&attempt, step, agreed.roster(), (trustee, &key));
            opened.is_ok()
        })
    };
    uploads(net)
        .iter()
        .filter(|upload| is_opened(upload))
        .count()
}

#[test]
fn what_is_left_after_a_step_opens_no_upload_of_it() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    let mut before = None;
    net.run_steps(1, |net, _| {
        if net.trustee_keys[0].step() == 0 {
            before = Some((net.trustee_keys[0].clone(), net.keys.clone()));
        }
    });
    assert_eq!(uploads(&net).len(), 4);
    let with = |key: &TrusteeKey, step: u32| {
        let chain = |client: usize| key.clients().get(client)?.clone();
        opened(&net, |client| chain(client)?.key(step))
    };
    let (of_trustee, of_parties) = before.expect("kept");
    assert_eq!(with(&of_trustee, 0), 4, "with the keys of the step");
    let left = &net.trustee_keys[0];
    assert_eq!((with(left, 0), with(left, 1)), (0, 0));
    // Nor do the parties' folders: neither the envelopes nor the secrets of their shares come back.
    let attempt = *uploads(&net)[0].attempt();
    for (before, left) in of_parties.iter().zip(&net.keys) {
        assert!(before.upload_keys(&attempt).is_some());
        assert!(left.upload_keys(&attempt).is_none());
    }
}
