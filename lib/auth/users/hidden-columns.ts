/** The columns of the table that a `repositoryClass` reads: those with hashes are no fields of any resource. */
import { Repository } from 'typeorm';
import { hideColumns, namesSecret, UnhiddenHashes } from '../../entities/entity-guard.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import type { Application } from '../../routes/application.js';
import { UserRepository } from './user.repository.js';

/** @throws InvalidOptionError for a name that is no column of the repositories that are properties of the instance */
export function hideHashes(users: UserRepository, application: Application): void {
  const { name: type, hiddenColumns } = users.constructor as typeof UserRepository;
  const columns = Object.values(users).flatMap((each) => (each instanceof Repository ? each.metadata.columns : []));
  const paths = columns.map(({ propertyPath }) => propertyPath);
  const hashes = paths.includes('password')
    ? ['password']
    : paths.filter((path) => namesSecret(path, ['password', 'hash']));
  const names = hiddenColumns ?? hashes;
  const tables = new Set(columns.map(({ entityMetadata }) => entityMetadata.tablePath));
  const isUnhidden = !hiddenColumns && hashes.length === 0;
  if (isUnhidden) Object.assign(application.stateOf(UnhiddenHashes), { repositoryClass: type, tables });
  const unknown = names.filter((name) => !paths.includes(name));
  if (unknown.length > 0)
    throw new InvalidOptionError(
      `${type}.hiddenColumns`,
      'names of columns of an entity whose repository is a property of the instance',
      unknown.join(', '),
      'correct them, or inject the repository: constructor(@InjectRepository(Account) readonly accounts: Repository<Account>)',
    );
  hideColumns(columns.filter(({ propertyPath }) => names.includes(propertyPath)));
}
