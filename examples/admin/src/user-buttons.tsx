import LogoutIcon from '@mui/icons-material/Logout';
import MailIcon from '@mui/icons-material/Mail';
import { type ReactNode, useState } from 'react';
import { Button, Confirm, useNotify, useRecordContext } from 'react-admin';

import { shopData } from './shop.js';

interface UserButtonProps {
  readonly label: string;
  readonly method: string;
  /** Below the user. */
  readonly path: string;
  readonly success: string;
  /** Where it is asked before. */
  readonly question?: string;
  readonly children: ReactNode;
}

function UserButton({ label, method, path, success, question, children }: UserButtonProps) {
  const user = useRecordContext();
  const notify = useNotify();
  const [isAsking, setIsAsking] = useState(false);
  if (!user) return null;
  const send = async () => {
    setIsAsking(false);
    try {
      await shopData.custom(`auth/users/${user.id}/${path}`, { method });
      notify(success);
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    }
  };
  return (
    <>
      <Button label={label} onClick={() => (question === undefined ? void send() : setIsAsking(true))}>
        {children}
      </Button>
      {question !== undefined && (
        <Confirm
          isOpen={isAsking}
          title={label}
          content={question}
          onConfirm={() => void send()}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  );
}

/** Without a mailer, the shop logs the link. */
export const MailResetButton = () => (
  <UserButton label="Mail a password link" method="POST" path="reset" success="A mail was sent">
    <MailIcon />
  </UserButton>
);

export const EndSessionsButton = () => (
  <UserButton
    label="End sessions"
    method="DELETE"
    path="sessions"
    success="All sessions of the user have ended"
    question="The user is logged out on all devices, and loses what is not saved there."
  >
    <LogoutIcon />
  </UserButton>
);
