/** The menu, whose links open whole lists. */
import { Menu, useCreatePath, useResourceDefinitions } from 'react-admin';

/** The path of a list with all records: without parameters, react-admin shows the filters of the last visit. */
export function useWholeListPath() {
  const createPath = useCreatePath();
  return (resource: string) => ({ pathname: createPath({ resource, type: 'list' }), search: '?filter={}' });
}

export function ServiceMenu() {
  const lists = Object.values(useResourceDefinitions()).filter(({ hasList }) => hasList);
  const pathOf = useWholeListPath();
  return (
    <Menu>
      <Menu.DashboardItem />
      {lists.map(({ name }) => (
        <Menu.ResourceItem key={name} name={name} to={pathOf(name)} />
      ))}
    </Menu>
  );
}
