import { Inject, Injectable, Logger, Optional, type CanActivate } from '@nestjs/common';
import { Authenticator } from './principal.js';

/** Stands before every handler with an access decorator, and warns at startup where `AuthModule` does not apply it. */
@Injectable()
export class AuthModuleCheck implements CanActivate {
  constructor(@Optional() @Inject(Authenticator) authenticator?: Authenticator) {
    if (!authenticator)
      new Logger('SecurityRules').warn(
        'Access decorators such as @Roles() do nothing without AuthModule. Add AuthModule.forRoot({ … }) to the imports of the root module.',
      );
  }

  canActivate(): boolean {
    return true;
  }
}
