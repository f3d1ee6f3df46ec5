/** The files of the page: a fixed list, and nothing of it is found by a name that somebody sends. */
import { pageStyle } from './page-style.js';
import { pageHtml } from './page.js';

/** A file as it is sent. */
export interface PageFile {
  type: string;
  body: string;
}

/** The files by their address. */
export function openPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map<string, PageFile>([
    ['/', { type: 'text/html; charset=utf-8', body: pageHtml }],
    ['/style.css', { type: 'text/css; charset=utf-8', body: pageStyle }],
  ]);
}
