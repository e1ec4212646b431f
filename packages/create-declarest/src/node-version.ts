// Which versions of Node can run the new application.

/** @param version as in `process.versions.node` */
export function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}
