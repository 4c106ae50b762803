//! The example of the README. A test of its own runs it with this variable, and reads the output.

use mazurka::program::Program;

#[test]
fn no_money_is_lost() {
    if std::env::var_os("MAZURKA_TEST_FAILS").is_none() {
        return;
    }
    let mut program = Program::new();
    let balance = program.cell("balance", 100);
    for name in ["Alice", "Bob"] {
        program.process(name, async move || {
            let seen = balance.read().await;
            assert!(seen >= 50, "the account is covered");
            balance.write(seen - 50).await;
        });
    }
    program.finally(move |end| assert_eq!(end.read(balance), 0));
    mazurka::check(&program.build()).assert_ok();
}
