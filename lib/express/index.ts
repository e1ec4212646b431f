export { ExpressAdapter } from './express-adapter.js';
