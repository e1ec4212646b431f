/** The options of the plugin `secondFactor`. */
import { option, type OptionsOf, readOptions } from 'declarest/plugin';

const isName = (value: unknown): boolean => typeof value === 'string' && /^[^:]+$/.test(value.trim());

const OPTIONS = {
  issuer: option.optional<string>('a name without a colon', isName, 'set for example "Shop"'),
  required: option.names('roles', 'ADMIN'),
};

export type FactorSettings = OptionsOf<typeof OPTIONS>;
export const FACTOR_SETTINGS = Symbol('declarest.factorSettings');

/** @throws InvalidOptionError */
export const readSettings = (options: unknown): FactorSettings =>
  Object.freeze(readOptions('secondFactor', OPTIONS, options));
