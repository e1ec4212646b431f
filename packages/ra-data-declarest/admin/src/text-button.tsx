/** Buttons whose text stays below 600 pixels, where those of react-admin show their icon alone. */
import { Button, type ButtonProps, useTranslate } from 'react-admin';

import { useIsNarrow } from './cards.js';

/** The style of a text in place of an icon. */
export const AS_TEXT = { borderRadius: 1, fontSize: '0.875rem', minHeight: 52, px: 1 } as const;
const FILLED = {
  bgcolor: 'primary.main',
  color: 'primary.contrastText',
  '&:hover': { bgcolor: 'primary.main' },
} as const;

interface TextButtonProps extends Omit<ButtonProps, 'sx'> {
  readonly label: string;
  readonly sx?: Readonly<Record<string, string>>;
}

export function TextButton({ variant = 'text', sx = {}, ...props }: TextButtonProps) {
  const isNarrow = useIsNarrow();
  const translate = useTranslate();
  if (!isNarrow) return <Button {...props} variant={variant} sx={sx} />;
  return (
    <Button {...props} sx={{ ...AS_TEXT, ...(variant === 'contained' && FILLED), ...sx }}>
      <span>{translate(props.label, { _: props.label })}</span>
    </Button>
  );
}
