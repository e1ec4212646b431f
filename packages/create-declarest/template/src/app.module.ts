// The declarations: users, the resource and its endpoints. Add a resource as a class like TasksController.
import { Module } from '@nestjs/common';
import { AuthModule, CrudController, CrudModule } from 'declarest';
import { jwtSecret, passwordPolicy } from './environment.js';
// {{LOGINS_IMPORT}}
import { Security } from './security.js';
import { SetupModule } from './setup.module.js';
import { Task } from './task.entity.js';
import { User } from './user.entity.js';

export { configure } from './setup.module.js';

export class TasksController extends CrudController({ entity: Task, endpoint: '/api/tasks', enablePagination: true }) {}

const auth = AuthModule.forRoot({ userClass: User, jwtSecret, passwordPolicy, sessions: true, administration: true }); // {{AUTH}}

@Module({ imports: [SetupModule, auth, CrudModule.forFeature(TasksController)], providers: [Security] })
export class AppModule {}
