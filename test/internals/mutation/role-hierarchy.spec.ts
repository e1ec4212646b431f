import { ACCESS_SETTINGS } from '../../../lib/access/access-options.js';
import { compileRoleHierarchy } from '../../../lib/access/role-hierarchy.js';
import { readOptions, refuseAuthOption } from '../../../lib/options/option-table.js';
import { refusalOf } from './declared.js';

const read = (roleHierarchy: unknown) => readOptions(ACCESS_SETTINGS, { roleHierarchy }, refuseAuthOption);

describe('roles that include others', () => {
  const inclusion = () => compileRoleHierarchy({ ROOT: ['ADMIN'], ADMIN: ['EDITOR', 'AUDITOR'], EDITOR: ['READER'] });

  it.each<[roles: string[], expanded: string[]]>([
    [[], []],
    [['READER'], ['READER']],
    [['EDITOR'], ['EDITOR', 'READER']],
    [['ADMIN'], ['ADMIN', 'EDITOR', 'READER', 'AUDITOR']],
    [['ROOT'], ['ROOT', 'ADMIN', 'EDITOR', 'READER', 'AUDITOR']],
    [
      ['EDITOR', 'OTHER', 'READER'],
      ['EDITOR', 'READER', 'OTHER'],
    ],
  ])('[3.2] %j include %j', (roles, expanded) => {
    expect(inclusion().expand(roles)).toEqual(expanded);
  });

  it.each<[role: string, includers: string[]]>([
    ['READER', ['ROOT', 'ADMIN', 'EDITOR']],
    ['AUDITOR', ['ROOT', 'ADMIN']],
    ['ROOT', []],
    ['OTHER', []],
  ])('[3.2] %s is included by %j', (role, includers) => {
    expect(inclusion().includersOf(role)).toEqual(includers);
  });

  it('[3.2] where there are keys, who is none has LOGIN', () => {
    const { expand, isDeclared } = compileRoleHierarchy({}, true);
    expect([expand(['A']), expand(['A', 'KEY']), expand(['KEY', 'LOGIN'])]).toEqual([
      ['A', 'LOGIN'],
      ['A', 'KEY'],
      ['KEY'],
    ]);
    expect([isDeclared, inclusion().expand(['OTHER'])]).toEqual([true, ['OTHER']]);
  });

  it('[3.2] without a hierarchy the roles stay the same', () => {
    const roles = ['A', 'A'];
    expect(compileRoleHierarchy({}).expand(roles)).toBe(roles);
    expect(compileRoleHierarchy({}).includersOf('A')).toEqual([]);
    expect([compileRoleHierarchy({}).isDeclared, inclusion().isDeclared]).toEqual([false, true]);
  });

  it('[3.2] two ways to one role are no cycle, and a role may be named constructor', () => {
    expect(compileRoleHierarchy({ A: ['B', 'C'], B: ['D'], C: ['D'] }).expand(['A'])).toEqual(['A', 'B', 'D', 'C']);
    expect(compileRoleHierarchy({ A: ['constructor'] }).expand(['A'])).toEqual(['A', 'constructor']);
    expect(compileRoleHierarchy({ A: undefined as never }).expand(['A'])).toEqual(['A']);
  });

  it.each<[hierarchy: Record<string, string[]>, cycle: string]>([
    [{ A: ['A'] }, 'A > A'],
    [{ A: ['B'], B: ['C'], C: ['A'] }, 'A > B > C > A'],
    [{ A: ['B'], B: ['C'], C: ['B'] }, 'A > B > C > B'],
  ])('[3.2] the cycle in %j is refused', (hierarchy, cycle) => {
    expect(refusalOf(() => compileRoleHierarchy(hierarchy))).toBe(
      `The option \`roleHierarchy\` must be a hierarchy without a cycle, got ${cycle}. Remove one of these roles.`,
    );
  });
});

describe('the option roleHierarchy', () => {
  it.each([[{}], [{ A: [] }], [{ A: ['B', 'C'], D: ['A'] }]])('[3.2] %j is accepted', (hierarchy) => {
    expect(refusalOf(() => read(hierarchy))).toBe('accepted');
  });

  it.each<[hierarchy: unknown, got: string]>([
    [null, 'null'],
    ['A', '"A"'],
    [() => [], 'a function'],
    [[], 'an array of 0'],
    [[['A']], 'an array of 1'],
    [{ A: 'B' }, 'an object'],
    [{ A: [7] }, 'an object'],
    [{ A: [''] }, 'an object'],
    [{ A: [' '] }, 'an object'],
    [{ A: ['B', ''] }, 'an object'],
    [{ A: ['B'], C: null }, 'an object'],
    [{ '': ['B'] }, 'an object'],
    [{ ' ': ['B'] }, 'an object'],
  ])('[3.2] %j is refused', (hierarchy, got) => {
    expect(refusalOf(() => read(hierarchy))).toBe(
      `AuthModule option \`roleHierarchy\` must be an object of roles with arrays of the roles that they include, got ${got}. Write for example { ADMIN: ["EDITOR"] }.`,
    );
  });
});
