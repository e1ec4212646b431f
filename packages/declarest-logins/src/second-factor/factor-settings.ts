/** The options of the plugin `secondFactor`. */
import { namesOf, optional, type OptionsOf, readNestedOptions } from 'declarest/plugin';

const isName = (value: unknown): boolean => typeof value === 'string' && /^[^:]+$/.test(value.trim());

const OPTIONS = {
  issuer: optional<string>('a name without a colon', isName, 'set for example "Shop"'),
  required: namesOf('roles', 'ADMIN'),
};

export type FactorSettings = OptionsOf<typeof OPTIONS>;
export const FACTOR_SETTINGS = Symbol('declarest.factorSettings');

/** @throws InvalidOptionError */
export const readSettings = (options: unknown): FactorSettings =>
  Object.freeze(readNestedOptions('secondFactor', OPTIONS, options));
