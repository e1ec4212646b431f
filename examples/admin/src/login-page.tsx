import Button from '@mui/material/Button';
import { Login, LoginForm, PasswordInput, required, TextInput } from 'react-admin';

export const LoginPage = () => (
  <Login>
    <LoginForm>
      <TextInput source="email" type="email" autoComplete="username" validate={required()} autoFocus />
      <PasswordInput source="password" autoComplete="current-password" validate={required()} />
    </LoginForm>
    <Button href="#/forgot" fullWidth>
      Forgot password?
    </Button>
  </Login>
);
