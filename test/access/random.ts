export { type Random, seeded } from '../../lib/testing/isolation/random.js';
