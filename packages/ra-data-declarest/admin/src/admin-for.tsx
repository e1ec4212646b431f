import type { ResourceDescription } from 'ra-data-declarest/description';
import { type ReactNode, useState } from 'react';
import {
  Admin,
  type AdminProps,
  AppBar,
  Layout,
  type RaRecord,
  Resource,
  type ResourceProps,
  TitlePortal,
  useDefaultTitle,
  useGetIdentity,
  useLogout,
  UserMenu,
} from 'react-admin';

import { labelOf } from './fields.js';
import { Home } from './home.js';
import { ResourceList } from './list-page.js';
import { LoginAgain } from './login-again.js';
import { LoginPage } from './login-page.js';
import { ServiceMenu } from './menu.js';
import { ResourceCreate, ResourceEdit, ResourceShow } from './pages.js';
import { OfflineNotice } from './read-failure.js';
import { connectService, ServiceContext, type ServiceOptions, useService } from './service.js';
import { TextButton } from './text-button.js';
import { darkTheme, lightTheme } from './themes.js';
import { UnsavedChanges } from './unsaved-changes.js';
import { valueAt } from './value-at.js';

/** Components of the application, in place of the pages of a resource. */
export type ResourcePages = Pick<ResourceProps, 'list' | 'create' | 'edit' | 'show' | 'icon'>;

export interface AdminForProps extends ServiceOptions, Omit<AdminProps, 'children' | 'dataProvider' | 'authProvider'> {
  /** @example { products: { list: ProductList } } */
  readonly resources?: Readonly<Record<string, ResourcePages>>;
}

/**
 * An admin interface for the resources of a service that the user may read: lists with filters, forms, references and
 * bulk actions, from the OpenAPI document of the service.
 *
 * @example <AdminFor url="https://shop.example/api" />
 */
export function AdminFor(props: AdminForProps) {
  const { url: _url, document: _document, authUrl: _authUrl, loginField: _field, ...others } = props;
  const { logins: _logins, redirectUri: _redirectUri, resources = {}, ...ofAdmin } = others;
  const [service] = useState(() => connectService(props, props.logins?.providers && takeResponse()));
  return (
    <ServiceContext.Provider value={service}>
      <Admin
        dataProvider={service.data}
        authProvider={service.auth}
        theme={lightTheme}
        darkTheme={darkTheme}
        dashboard={Home}
        layout={ServiceLayout}
        loginPage={LoginPage}
        requireAuth
        disableTelemetry
        {...ofAdmin}
      >
        {() =>
          service.resources
            .filter(({ parent }) => !parent)
            .map((resource) => (
              <Resource key={resource.name} {...pagesOf(resource, service.resources)} {...resources[resource.name]} />
            ))
        }
      </Admin>
    </ServiceContext.Provider>
  );
}

function pagesOf(resource: ResourceDescription, all: readonly ResourceDescription[]): ResourceProps {
  const { name, title, accounts, canCreate, canEdit, canShow } = resource;
  const isUsers = accounts && all.every((each) => each.name !== 'users');
  return {
    name,
    // Page titles leave out what is not a text.
    recordRepresentation: (record: RaRecord) => String(valueAt(record, title) || record.id),
    ...(/[^a-z]/.test(name) && { options: { label: isUsers ? 'Users' : labelOf(name) } }),
    list: <ResourceList resource={resource} />,
    ...(canCreate && { create: <ResourceCreate resource={resource} /> }),
    ...(canEdit && { edit: <ResourceEdit resource={resource} /> }),
    ...(canShow && { show: <ResourceShow resource={resource} /> }),
  };
}

/** Its name for screen readers is the text that it shows. */
function ServiceBar() {
  const { data } = useGetIdentity();
  return (
    <AppBar userMenu={<UserMenu label={data?.fullName ?? 'ra.auth.user_menu'} />}>
      <TitlePortal component="h1" />
    </AppBar>
  );
}

/** A table that is wider than the window scrolls, instead of the page. */
const SCROLLING = {
  minWidth: 0,
  '& .RaLayout-appFrame, & main, & .RaLayout-content, & .list-page, & .RaList-main, & .RaList-content': { minWidth: 0 },
  '& .RaDatagrid-tableWrapper': { overflowX: 'auto' },
};

/** A user without access gets a sentence instead of the interface. */
function ServiceLayout({ children }: { readonly children: ReactNode }) {
  const { refusal } = useService();
  const logOut = useLogout();
  const title = useDefaultTitle();
  if (refusal === undefined)
    return (
      <Layout appBar={ServiceBar} menu={ServiceMenu} sx={SCROLLING}>
        <OfflineNotice />
        <LoginAgain />
        <UnsavedChanges />
        {children}
      </Layout>
    );
  return (
    <main style={{ padding: '2em' }}>
      <h1>{title}</h1>
      <p role="alert">{refusal}</p>
      <TextButton label="ra.auth.logout" variant="contained" onClick={() => void logOut()} />
    </main>
  );
}

/** What a provider has sent leaves the address, so that no reload sends it again. */
function takeResponse(): string | undefined {
  const { href, pathname, hash } = window.location;
  const [address = ''] = href.split('#');
  const { searchParams } = new URL(address);
  if (!searchParams.has('state') || !(searchParams.has('code') || searchParams.has('error'))) return undefined;
  window.history.replaceState(window.history.state, '', `${pathname}${hash}`);
  return address;
}
