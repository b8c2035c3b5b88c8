import { useParams, useRouter, useSearch } from '@tanstack/react-router';
import { fromUrl, pageUrl } from '../api/names-in-urls.ts';

export interface Place {
  /** The pattern's parameters as people write them; `rest` is what a closing `$` took. */
  readonly params: Readonly<Record<string, string>>;
  readonly search: Readonly<Record<string, string | undefined>>;
}

/** Where the page is. */
export function usePlace(): Place {
  const { _splat, ...named } = useParams({ strict: false }) as Record<string, string | undefined>;
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const params = Object.fromEntries(Object.entries(named).map(([name, value]) => [name, fromUrl(value ?? '')]));
  if (_splat !== undefined) params.rest = _splat.split('/').map(fromUrl).join('/');
  return {
    params,
    search: Object.fromEntries(Object.entries(search).map(([name, value]) => [name, value === undefined ? undefined : String(value)])),
  };
}

interface Addresses {
  push(url: string): void;
  replace(url: string): void;
}

/** The browser's history, with whole addresses. */
export function useAddresses(): Addresses {
  return (useRouter() as { readonly history: Addresses }).history;
}

type Go = (
  pattern: string,
  params?: Readonly<Record<string, string>>,
  search?: Readonly<Record<string, string | number | boolean | undefined>>,
  options?: { readonly replace?: boolean },
) => void;

/** Goes to a page; with `replace`, the present address leaves no entry in the history (filters, tabs). */
export function useGo(): Go {
  const addresses = useAddresses();
  return (pattern, params, search, options) => {
    const url = `/ui${pageUrl(pattern, params, search)}`;
    if (options?.replace) addresses.replace(url);
    else addresses.push(url);
  };
}
