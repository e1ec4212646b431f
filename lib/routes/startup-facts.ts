/** What the modules of an application tell each other before the checks at its start. */
export class StartupFacts {
  /** The roles that options name, apart from rules: their spelling is compared with that of rules. */
  readonly optionRoles = new Set<string>();
  /** The option `strict` of AuthModule: some warnings are refusals. */
  isStrict = false;
}
