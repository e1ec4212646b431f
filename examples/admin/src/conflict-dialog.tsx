import Button from '@mui/material/Button';
import Dialog from '@mui/material/Dialog';
import DialogActions from '@mui/material/DialogActions';
import DialogContent from '@mui/material/DialogContent';
import DialogContentText from '@mui/material/DialogContentText';
import DialogTitle from '@mui/material/DialogTitle';
import FormControlLabel from '@mui/material/FormControlLabel';
import Radio from '@mui/material/Radio';
import Table from '@mui/material/Table';
import TableBody from '@mui/material/TableBody';
import TableCell from '@mui/material/TableCell';
import TableHead from '@mui/material/TableHead';
import TableRow from '@mui/material/TableRow';
import type { Conflict } from 'ra-data-declarest';
import { useState } from 'react';
import {
  Edit,
  type EditProps,
  type RaRecord,
  useNotify,
  useRedirect,
  useTranslateLabel,
  useUpdate,
  type UpdateParams,
} from 'react-admin';

import { shopData } from './shop.js';

/** Fields that only the server writes. */
const GENERATED = ['version', 'deletedAt'];

const textOf = (value: unknown): string => (value === null || value === undefined ? '–' : String(value));

interface Edited {
  readonly resource: string;
  readonly conflict: Conflict<RaRecord>;
}

interface ConflictDialogProps extends Edited {
  onClose(): void;
  onSave(choices: object): void;
}

/** Both versions of a record side by side. The user chooses for each field that both have changed. */
function ConflictDialog({ resource, conflict, onClose, onSave }: ConflictDialogProps) {
  const label = useTranslateLabel();
  const fields = conflict.fields.filter(({ name }) => !GENERATED.includes(name));
  const [theirs, setTheirs] = useState<readonly string[]>([]);
  const save = () => {
    const mine = fields.filter(({ name, isMine }) => isMine && !theirs.includes(name));
    onSave(Object.fromEntries(mine.map((field) => [field.name, field.mine])));
  };
  return (
    <Dialog open onClose={onClose} aria-labelledby="conflict-title" maxWidth="md">
      <DialogTitle id="conflict-title">Somebody else has changed this record</DialogTitle>
      <DialogContent sx={{ px: { xs: 1, sm: 3 } }}>
        <DialogContentText sx={{ px: { xs: 1, sm: 0 } }}>
          Choose the values to save. Nothing is saved before you do.
        </DialogContentText>
        <Table size="small" sx={{ '& td, & th': { px: { xs: 1, sm: 2 }, overflowWrap: 'anywhere' } }}>
          <TableHead>
            <TableRow>
              <TableCell>Field</TableCell>
              <TableCell>Your value</TableCell>
              <TableCell>Saved by somebody else</TableCell>
            </TableRow>
          </TableHead>
          <TableBody>
            {fields.map(({ name, mine, theirs: other, isMine }) => {
              const title = String(label({ source: name, resource }));
              const choose = (isTheirs: boolean) =>
                setTheirs(isTheirs ? [...theirs, name] : theirs.filter((each) => each !== name));
              const choice = (isTheirs: boolean, whose: string, value: unknown) => (
                <FormControlLabel
                  label={textOf(value)}
                  control={
                    <Radio
                      size="small"
                      name={name}
                      checked={theirs.includes(name) === isTheirs}
                      onChange={() => choose(isTheirs)}
                      slotProps={{ input: { 'aria-label': `${title}: ${whose} ${textOf(value)}` } }}
                    />
                  }
                />
              );
              if (!isMine)
                return (
                  <TableRow key={name}>
                    <TableCell component="th" scope="row">
                      {title}
                    </TableCell>
                    <TableCell>not changed</TableCell>
                    <TableCell>{textOf(other)}</TableCell>
                  </TableRow>
                );
              return (
                <TableRow key={name}>
                  <TableCell component="th" scope="row">
                    {title}
                  </TableCell>
                  <TableCell>{choice(false, 'your value', mine)}</TableCell>
                  <TableCell>{choice(true, 'the saved value', other)}</TableCell>
                </TableRow>
              );
            })}
          </TableBody>
        </Table>
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Back to the form</Button>
        <Button variant="contained" onClick={save}>
          Save these values
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** An edit page whose form stays after a failure, and which shows a change by somebody else. */
export function ShopEdit({ children, ...props }: EditProps) {
  const notify = useNotify();
  const redirect = useRedirect();
  const [update] = useUpdate();
  const [edited, setEdited] = useState<Edited>();

  const tell = (error: unknown) => notify((error as Error).message, { type: 'error' });
  const onError = (error: unknown, variables: unknown) => {
    const { status, body } = error as { status?: number; body?: { errors?: object } };
    const { resource = '', ...params } = variables as UpdateParams & { resource?: string };
    if (status === 412)
      void shopData
        .readConflict(resource, params)
        .then((conflict) => setEdited({ resource, conflict }))
        .catch((failure: { status?: number; message: string }) =>
          tell(failure.status === 404 ? new Error('This record was deleted by somebody else.') : failure),
        );
    // The form shows the errors of its fields itself.
    else if (!body?.errors) tell(error);
  };

  const save = ({ resource, conflict: { current } }: Edited, choices: object) =>
    void update(
      resource,
      { id: current.id, data: { ...current, ...choices }, previousData: current },
      {
        onSuccess: () => {
          setEdited(undefined);
          notify('ra.notification.updated', { type: 'info', messageArgs: { smart_count: 1 } });
          redirect('list', resource);
        },
        onError: (error) => {
          setEdited(undefined);
          onError(error, { resource, id: current.id, data: { ...current, ...choices }, previousData: current });
        },
      },
    );

  return (
    <>
      <Edit mutationMode="pessimistic" mutationOptions={{ onError }} {...props}>
        {children}
      </Edit>
      {edited && (
        <ConflictDialog {...edited} onClose={() => setEdited(undefined)} onSave={(choices) => save(edited, choices)} />
      )}
    </>
  );
}
