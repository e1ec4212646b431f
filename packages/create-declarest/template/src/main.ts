import 'reflect-metadata';
import { createApp } from './create-app.js';
import { port } from './environment.js';

const app = await createApp();
app.enableShutdownHooks();
// Longer than a proxy keeps idle connections (nginx: 60 s), or writes that meet the end of one are answered with 502.
app.getHttpServer().keepAliveTimeout = 65_000;
await app.listen(port, '0.0.0.0');
