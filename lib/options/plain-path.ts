/** `api/products/` → `/api/products`; `undefined` unless there is a level, and each has only letters, digits and `.-_~`. */
export function plainPath(path: unknown): string | undefined {
  const levels = typeof path === 'string' ? path.split('/').filter((level) => level !== '') : [];
  const isPlain = levels.length > 0 && levels.every((level) => /^(?!\.+$)[\w.~-]+$/.test(level));
  return isPlain ? `/${levels.join('/')}` : undefined;
}
