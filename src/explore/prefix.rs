//! The complete finite prefix as an explorer.
mod net;
pub use net::ModelNet;

/// Counts, for a first look.
pub fn counts<S: crate::model::System>(system: &S) -> (usize, usize, f64) {
    let mut queued = Default::default();
    loop {
        let t = std::time::Instant::now();
        let mut net = ModelNet::new(system, queued, Default::default());
        let mut prefix = crate::unfolding::prefix::Prefix::new(&mut net);
        let mut added = Vec::new();
        while !crate::unfolding::prefix::Net::is_stopped(&net) && prefix.grow(&mut net, &mut added)
        {
        }
        if let Some(more) = net.must_start_again() {
            queued = more.clone();
            continue;
        }
        if let Some(r) = net.refusal() {
            println!("{r}");
        }
        println!("bytes {}", prefix.bytes() / added.len().max(1));
        return (added.len(), prefix.cutoffs(), t.elapsed().as_secs_f64());
    }
}
