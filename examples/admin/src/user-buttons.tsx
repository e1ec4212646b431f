import LogoutIcon from '@mui/icons-material/Logout';
import MailIcon from '@mui/icons-material/Mail';
import type { ReactNode } from 'react';
import { Button, useNotify, useRecordContext } from 'react-admin';

import { shopData } from './shop.js';

interface UserButtonProps {
  readonly label: string;
  readonly method: string;
  /** Below the user. */
  readonly path: string;
  readonly success: string;
  readonly children: ReactNode;
}

function UserButton({ label, method, path, success, children }: UserButtonProps) {
  const user = useRecordContext();
  const notify = useNotify();
  if (!user) return null;
  const send = async () => {
    try {
      await shopData.custom(`auth/users/${user.id}/${path}`, { method });
      notify(success);
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    }
  };
  return (
    <Button label={label} onClick={() => void send()}>
      {children}
    </Button>
  );
}

/** Without a mailer, the shop logs the link. */
export const MailResetButton = () => (
  <UserButton label="Mail a password link" method="POST" path="reset" success="A mail was sent">
    <MailIcon />
  </UserButton>
);

export const EndSessionsButton = () => (
  <UserButton label="End sessions" method="DELETE" path="sessions" success="All sessions of the user have ended">
    <LogoutIcon />
  </UserButton>
);
