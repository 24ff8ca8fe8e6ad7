//! Studies between separate processes on this machine: the real binary, real TLS, real files.

mod admission;
mod afterwards;
mod again;
mod attacks;
mod cancelled;
mod certificates;
mod defect;
mod disk;
mod equivocation;
mod faults;
mod folders;
mod hostile;
mod leave;
mod ledger;
mod line;
mod live_page;
mod lost_ledger;
mod lying_coordinator;
mod missing;
mod network;
mod preparation;
mod raw_messages;
mod secrets;
mod stage;
mod stolen_tls;
mod whole;
