// The ways to log in besides the password. README.md says what each of them needs.
// {{PLUGIN_IMPORTS}}
// {{SETTINGS}}

export const logins = []; // {{LOGINS}}
