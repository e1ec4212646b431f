import { usePermissions } from 'react-admin';

/** Whether the user has the role ADMIN. The server decides; this only hides what it would refuse. */
export function useIsAdmin(): boolean {
  const { permissions } = usePermissions<string[]>();
  return permissions?.includes('ADMIN') ?? false;
}
