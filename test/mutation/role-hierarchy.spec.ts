import { compileRoleHierarchy, expectRoleHierarchy } from '../../lib/access/role-hierarchy.js';
import { refusalOf } from './declared.js';

const OPTION = 'AuthModule option `roleHierarchy`';

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
  ])('[3.2] %j are %j', (roles, expanded) => {
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

  it('[3.2] without a hierarchy the roles stay as they are', () => {
    const roles = ['A', 'A'];
    expect(compileRoleHierarchy({}).expand(roles)).toBe(roles);
    expect(compileRoleHierarchy({}).includersOf('A')).toEqual([]);
  });

  it('[3.2] two ways to one role are no cycle, and names of Object are roles like others', () => {
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
      `${OPTION}: expected a hierarchy without a cycle, got ${cycle}; take one of these roles out.`,
    );
  });
});

describe('what may be a hierarchy', () => {
  it.each([[{}], [{ A: [] }], [{ A: ['B', 'C'], D: ['A'] }]])('[3.2] %j may', (hierarchy) => {
    expect(refusalOf(() => expectRoleHierarchy(hierarchy))).toBe('accepted');
  });

  it.each<[hierarchy: unknown, got: string]>([
    [null, 'null'],
    [undefined, 'undefined'],
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
  ])('[3.2] %j may not', (hierarchy, got) => {
    expect(refusalOf(() => expectRoleHierarchy(hierarchy))).toBe(
      `${OPTION}: expected roles with arrays of the roles they include, got ${got}; give for example { ADMIN: ["EDITOR"] }.`,
    );
  });
});
