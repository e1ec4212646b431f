import 'reflect-metadata';
import { createApp } from './create-app.js';
import { port } from './environment.js';

const app = await createApp();
app.enableShutdownHooks();
await app.listen(port, '0.0.0.0');
