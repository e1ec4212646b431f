/** Injects the resolved options of AuthModule. Each class declares the part of them that it reads. */
export const AUTH_OPTIONS = Symbol('declarest.authOptions');
