import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useForeign } from '../api/own-routes.ts';
import { rightInWords, useRight, type Right } from '../api/rights.ts';
import { useGo } from './place.ts';

interface ActionButtonProps extends ButtonProps {
  /** What the token must be allowed; without it the action is always offered. */
  readonly needs?: Right | undefined;
  readonly onClick?: () => void;
  readonly children: ReactNode;
  readonly type?: 'button' | 'submit';
}

/** An action. Where the token may not do it, the button is grey, says which right is missing, and opens the page that explains. */
export function ActionButton({ needs, onClick, children, type = 'button', ...rest }: ActionButtonProps) {
  const verdict = useRight(needs);
  const go = useGo();
  const foreign = useForeign();
  if (verdict !== 'no' || needs === undefined) {
    return (
      <Button size="xs" {...rest} type={type} {...(onClick ? { onClick } : {})}>
        {children}
      </Button>
    );
  }
  const missing = rightInWords(needs);
  return (
    <Tooltip label={`missing: ${missing}`} events={{ hover: true, focus: true, touch: true }}>
      <Button
        size="xs"
        {...rest}
        variant="default"
        data-disabled
        aria-disabled="true"
        aria-label={`${typeof children === 'string' ? children : 'This'}: not allowed, missing ${missing}. Explain`}
        onClick={() =>
          !foreign && go('/access/try', {}, { path: needs.path, operation: typeof needs.need === 'string' ? needs.need : needs.need[0] })
        }
      >
        {children}
      </Button>
    </Tooltip>
  );
}
