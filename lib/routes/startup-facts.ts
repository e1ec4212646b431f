/** Facts that the modules of an application share before the checks at startup. */
export class StartupFacts {
  /** The roles that options name, apart from rules: their spelling is compared with that of rules. */
  readonly optionRoles = new Set<string>();
  /** The option `strict` of AuthModule: some warnings are refusals. */
  isStrict = false;
  /** The `repositoryClass` of users where nothing tells which columns hold hashes, and the tables that it seems to read. */
  unhidden?: { readonly repositoryClass: string; readonly tables: ReadonlySet<string> };
}
