//! What a report says of the explorer: the name, and for explorers of the table, the options.

use crate::explore::{Explorer, Options, Profile, Setting};

/// The explorer of a search, as reports show it.
#[derive(Clone, Copy, Debug)]
pub struct Instrument {
    pub(super) profile: Profile,
    /// Its options, if they are known.
    pub(super) setting: Option<Setting>,
}

impl Instrument {
    /// An explorer whose options are its own business.
    pub fn new(profile: Profile) -> Instrument {
        Instrument { profile, setting: None }
    }

    /// The options that it was given, as far as they are known.
    pub(super) fn options(&self) -> Options {
        self.setting.map_or_else(Options::default, |setting| setting.options())
    }
}

impl From<Setting> for Instrument {
    fn from(setting: Setting) -> Instrument {
        Instrument { profile: setting.profile(), setting: Some(setting) }
    }
}
