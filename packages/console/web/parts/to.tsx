import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { pageUrl } from '../api/names-in-urls.ts';
import { useAddresses } from './place.ts';

interface ToProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** A page's pattern, such as `/kv/$mount/show/$`. */
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** A link to a page of the console: a real address, opened without loading everything again. */
export function To({ to, params, search, onClick, children, ...rest }: ToProps) {
  const addresses = useAddresses();
  const url = pageUrl(to, params, search);
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    addresses.push(`/ui${url}`);
  };
  return (
    <a {...rest} href={`/ui${url}`} onClick={follow}>
      {children}
    </a>
  );
}
