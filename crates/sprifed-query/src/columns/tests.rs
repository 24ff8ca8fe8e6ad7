use proptest::prelude::*;

use super::*;

fn columns(features: &[u32], units: &[(f64, f64)]) -> ReleasedColumns {
    ReleasedColumns::new(FeatureSet::only(features), |place| ColumnUnit {
        centre: units[place].0,
        scale: Limit::nearest(units[place].1),
    })
}

#[test]
fn a_row_is_measured_from_centres_in_scales_and_cut() {
    let columns = columns(&[0, 2, 3], &[(0.5, 0.25), (-1.0, 2.0), (0.0, 0.01)]);
    let row = columns.standardised(&[1.0, 7.0, -1.0, 0.5, 9.0]);
    assert_eq!(row, vec![2.0, 7.0, 0.0, 5.0, 9.0]);
    assert_eq!(columns.standardised(&[-9.0]), vec![-5.0]);
    assert_eq!(columns.unit_of(1), None);
    assert_eq!(columns.unit_of(2).map(|unit| unit.centre), Some(-1.0));
}

#[test]
fn a_centre_that_is_no_number_is_zero_and_is_not_decoded() {
    for illegal in [f64::NAN, f64::INFINITY] {
        let columns = columns(&[1], &[(illegal, 1.0)]);
        assert_eq!(columns.standardised(&[3.0, 2.0]), vec![3.0, 2.0]);
        let stated = StatedColumns {
            features: FeatureSet::only(&[1]),
            units: vec![ColumnUnit {
                centre: illegal,
                scale: Limit::ONE,
            }],
        };
        assert!(ReleasedColumns::try_from(stated).is_err());
    }
    let none = StatedColumns {
        features: FeatureSet::only(&[1]),
        units: Vec::new(),
    };
    let count = IllegalColumns::Count {
        found: 0,
        required: 1,
    };
    assert_eq!(ReleasedColumns::try_from(none), Err(count));
}

#[test]
fn columns_are_read_back_as_they_were_written() {
    let columns = columns(&[0, 4], &[(0.5, 0.25), (-1.0, 2.0)]);
    let text = serde_json::to_string(&columns).unwrap();
    assert_eq!(
        serde_json::from_str::<ReleasedColumns>(&text).unwrap(),
        columns
    );
}

proptest! {
    #[test]
    fn every_row_stays_within_the_cut(
        row in prop::collection::vec(any::<f32>(), 0..6),
        centre in any::<f64>(),
        scale in any::<f64>(),
    ) {
        let columns = columns(&[0, 2, 9], &[(centre, scale); 3]);
        let standardised = columns.standardised(&row);
        prop_assert_eq!(standardised.len(), row.len());
        for place in [0, 2] {
            if let Some(value) = standardised.get(place) {
                prop_assert!(value.abs() <= 5.0);
            }
        }
    }
}
