"""Word lists for synthetic site names."""

from __future__ import annotations

from itertools import product


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SITES = _words("""
google.com yahoo.com myspace.com ebay.com mapquest.com amazon.com imdb.com en.wikipedia.org hotmail.com
bankofamerica.com walmart.com mail.yahoo.com geocities.com msn.com ask.com expedia.com weather.com craigslist.org
answers.com southwest.com aol.com search.yahoo.com cnn.com bestbuy.com irs.gov hometown.aol.com chase.com
ticketmaster.com nytimes.com about.com nick.com usps.com images.google.com monster.com orbitz.com sears.com
travelocity.com homedepot.com whitepages.com tripadvisor.com disney.com answers.yahoo.com wellsfargo.com
careerbuilder.com espn.go.com youtube.com webmd.com capitalone.com verizonwireless.com lowes.com circuitcity.com
maps.google.com cingular.com facebook.com dictionary.reference.com pogo.com hgtv.com foodnetwork.com edmunds.com
cars.com kbb.com autotrader.com realtor.com apartments.com homes.com rent.com jcpenney.com kohls.com macys.com
oldnavy.com gap.com victoriassecret.com costco.com kmart.com staples.com officedepot.com dell.com apple.com
microsoft.com download.com cnet.com pcworld.com addictinggames.com miniclip.com runescape.com neopets.com
cartoonnetwork.com pbskids.org nickjr.com lyrics.com azlyrics.com lyricsfreak.com music.yahoo.com mtv.com vh1.com
bet.com abc.go.com nbc.com cbs.com fox.com foxnews.com usatoday.com washingtonpost.com latimes.com chicagotribune.com
bbc.co.uk news.bbc.co.uk weatherchannel.com accuweather.com noaa.gov nasa.gov cdc.gov nih.gov ssa.gov census.gov
loc.gov state.gov dmv.ca.gov ca.gov texas.gov nyc.gov myfamily.com ancestry.com findagrave.com rootsweb.com
classmates.com reunion.com match.com eharmony.com americansingles.com evite.com bluemountain.com hallmark.com
1800flowers.com ftd.com allrecipes.com epicurious.com kraftfoods.com cooks.com recipezaar.com delta.com aa.com
continental.com united.com jetblue.com hotels.com marriott.com hilton.com priceline.com cheaptickets.com hotwire.com
greyhound.com amtrak.com ups.com fedex.com switchboard.com anywho.com superpages.com yellowpages.com citysearch.com
local.com fandango.com moviefone.com rottentomatoes.com netflix.com blockbuster.com overstock.com qvc.com hsn.com
mapsonus.com en.wikiquote.org en.wiktionary.org groups.google.com groups.yahoo.com members.aol.com members.tripod.com
angelfire.com freewebs.com xanga.com livejournal.com blogger.com photobucket.com webshots.com snapfish.com
kodakgallery.com
""")
"""Well-known sites of 2006, roughly by popularity; some share their first six characters."""

SUBDOMAINS = _words("""
groups members home forums en news search store shop travel web mail sports health pages games my images maps info
library local weather jobs music movies auto finance kids profile community support people users homepage
""")

WORDS = _words("""
my the free all best home web e new city net hot auto car real us usa pc go top on top10 online info art job blue bay
big red book golf hotel game play music fun good sun star south north west east air land sea lake park river hill ohio
texas florida my1 cal ny la world global trans inter tech data soft micro cyber digi tele phone cell wire power
energy max pro super ultra mega hyper mini multi uni bio eco geo med health care life fit diet doc dental eye skin
hair body yoga spa bath bed room house door roof floor wall wood stone rock gold silver steel iron glass pool yard
garden tree plant flower rose lily green grass farm ranch horse dog cat pet bird fish bear wolf fox lion tiger eagle
hawk food cook chef cake pie pizza bread wine beer coffee tea milk candy sugar spice fruit apple corn rice meat
beef pork kid baby mom dad girl boy teen lady men women bride wed love date match friend family school learn teach
class study math read write paper ink pen pix photo pic cam video film movie tv radio song band jazz dance
club party gift toy doll card stamp coin craft quilt sew knit bead shoe boot bag dress shirt hat coat jean ring
watch gem sport ball foot base basket hockey soccer swim surf ski bike run race track moto cycle truck van jeep ford
chevy honda boat ship sail yacht cruise fly jet plane train bus trip tour vaca inn motel lodge cabin camp trail
mount beach island ocean coast harbor port bridge tower castle church faith jesus bible god angel spirit peace hope law
legal court judge tax bank loan credit cash money fund stock trade mart shop store buy sell sale deal cheap bid
price cost pay bill lend rent lease estate realty agent broker insure safe secure lock guard alarm gun army navy
marine police fire rescue help aid gov county state town metro urban rural valley canyon desert prairie mid
central upper lower first second third one two three four five 1 2 3 4 123 24 101 1800 411 americas american national
united general standard premier prime elite royal crown king queen prince duke noble grand great giant little
small tiny smart wise clever quick fast rapid speed turbo rocket space moon planet galaxy cosmo solar lunar sky cloud
rain snow storm wind wave water flow spring summer winter autumn sunny shade dark night day dawn time clock
mail post news press daily weekly journal times herald tribune gazette report story tales myth legend magic mystic
""")
"""First parts of names, most frequent first. Short ones come first, so that few names share six characters."""

SEPARATORS = ("", "", "", "", "", "", "", "", "", "", "", "", "", "-")

ENDINGS = (
    (".com",) * 26 + (".org",) * 5 + (".net",) * 5 + (".edu",) * 3 + _words(".gov .co.uk .us .info .ca .biz .tv .de")
)

PATHS = _words("/index.html /home.html /a /b /news /en /main /store /pages /products /about /faq /search /members")

PREFIXES = _words("""
http data user home shop news mail game city auto blog live tech free best site book film song wiki
photo music video forum store login admin image world green
search member social update travel profile account download settings homepage
""")
"""Prefixes that many strings share: 20 of 4 characters, 10 of 5, and 10 of 6 to 8."""

CONSONANTS = "bcdfghjklmnprstvwxyz"
VOWELS = "aeiou"

_LAST = {site.rpartition(".")[0][-3:] for site in SITES}
SYLLABLES = tuple(
    syllable for syllable in map("".join, product(CONSONANTS, VOWELS, CONSONANTS)) if syllable not in _LAST
)
"""Syllables of three letters. No well-known name ends in one, so that no generated name equals a well-known one."""
