/** The ordinary words that names and kinds are made with. */

/** Nouns that titles are made with. */
export const things: readonly string[] = [
  'Crossing',
  'Garden',
  'Harbour',
  'Winter',
  'Mirror',
  'Bridge',
  'Lantern',
  'Promise',
  'Orchard',
  'Signal',
  'River',
  'Window',
  'Ferry',
  'Compass',
  'Tower',
  'Silence',
  'Fire',
  'Clock',
  'Stranger',
  'Road',
];

/** First words of the names of bands. */
export const weather: readonly string[] = ['Silver', 'Midnight', 'Velvet', 'Paper', 'Electric', 'Copper'];

/** Last words of the names of teams. */
export const creatures: readonly string[] = [
  'Herons',
  'Foxes',
  'Bears',
  'Comets',
  'Rovers',
  'Wolves',
  'Giants',
  'Sailors',
  'Hawks',
];

/** Kinds of films and books. */
export const genres: readonly string[] = [
  'drama',
  'comedy',
  'thriller',
  'romance',
  'mystery',
  'adventure',
  'fantasy',
  'horror',
  'science fiction',
  'crime',
  'satire',
  'western',
  'war story',
  'family saga',
  'ghost story',
  'spy story',
  'musical',
  'documentary',
  'road story',
  'fairy tale',
  'heist story',
  'courtroom drama',
  'coming-of-age story',
  'disaster story',
];

/** Kinds of music. */
export const styles: readonly string[] = [
  'rock',
  'folk',
  'jazz',
  'pop',
  'soul',
  'punk',
  'ambient',
  'country music',
  'electronica',
  'metal',
  'reggae',
  'gospel',
  'chamber music',
  'ska',
];

/** Kinds of sport. */
export const sports: readonly string[] = [
  'football',
  'ice hockey',
  'basketball',
  'rugby',
  'volleyball',
  'baseball',
  'handball',
  'water polo',
];

/** Last words of the names of awards. */
export const awards: readonly string[] = ['Prize', 'Medal', 'Award', 'Ribbon'];
