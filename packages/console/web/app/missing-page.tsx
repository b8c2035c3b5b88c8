import { Text } from '@mantine/core';
import { Page } from '../parts/page.tsx';
import { To } from '../parts/to.tsx';

export function MissingPage() {
  return (
    <Page title="There is no such page">
      <Text>
        The address may be mistyped, or the page is of another version. <To to="/">Go to the home page</To>
      </Text>
    </Page>
  );
}
