use num_rational::Ratio;
use sprifed_noise::*;
use std::time::Instant;
fn main(){
  for d in [10u128,64,100,127,128,500,1000,10_000,1_000_000, 1<<30]{
    let t=Instant::now(); let s=FloorGumbel::new(Ratio::new(1,d)).unwrap(); let b=t.elapsed();
    let mut g=NoiseGenerator::simulated(1); let mut o=vec![0i64;10000]; s.fill(&mut o,&mut g);
    let t=Instant::now(); s.fill(&mut o,&mut g); let e=t.elapsed();
    let sum: i64 = o.iter().sum();
    println!("1/{d}: build {b:?}, draw {:?} mean {}", e/10000, sum/10000);
  }
}
