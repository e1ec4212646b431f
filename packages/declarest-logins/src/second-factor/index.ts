/** declarest-logins/second-factor: codes of authenticator apps as the second step of logins. */
export { secondFactor, type SecondFactorOptions } from './second-factor.plugin.js';
export { SecondFactor } from './factor-tables.js';
export { SecondFactors } from './second-factors.js';
export { hasFactor, type FactorRuleOptions } from './has-factor.js';
