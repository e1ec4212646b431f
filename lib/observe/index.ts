export { requestIdOf, requestIds } from '../request-ids/request-ids.js';
export { TelemetryModule } from './telemetry.js';
