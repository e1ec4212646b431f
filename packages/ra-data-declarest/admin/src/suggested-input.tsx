/** A text, with values to choose from. */
import { useId } from 'react';
import { TextInput, type TextInputProps } from 'react-admin';

interface SuggestedInputProps extends TextInputProps {
  readonly suggestions: readonly string[];
}

export function SuggestedInput({ suggestions, ...props }: SuggestedInputProps) {
  const id = useId();
  return (
    <>
      <TextInput
        // A browser offers only those that have the text of the input.
        helperText={`For example ${suggestions.join(', ')}`}
        autoComplete="off"
        {...props}
        slotProps={{ htmlInput: { list: id } }}
      />
      <datalist id={id}>
        {suggestions.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}
